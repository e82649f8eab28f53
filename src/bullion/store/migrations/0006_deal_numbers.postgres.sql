-- oldest level: 1
-- outside a transaction
-- For the desk's search. Only deals have a number: placing an order does not write to this index.
DROP INDEX CONCURRENTLY IF EXISTS orders_by_deal_no;
CREATE INDEX CONCURRENTLY orders_by_deal_no ON orders (deal_no) WHERE deal_no IS NOT NULL;
