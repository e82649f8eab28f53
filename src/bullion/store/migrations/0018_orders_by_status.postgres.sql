-- oldest level: 1
-- outside a transaction
-- For the desk's lists by status, before all orders are counted. Test orders have one status, and are not in it: to book
-- them costs nothing more.
DROP INDEX CONCURRENTLY IF EXISTS orders_by_status;
CREATE INDEX CONCURRENTLY orders_by_status ON orders (status, id) WHERE status <> 'filled';
