-- oldest level: 1
-- For the desk's search. Only deals have a number: placing an order does not write to this index.
CREATE INDEX orders_by_deal_no ON orders (deal_no) WHERE deal_no IS NOT NULL;
