-- oldest level: 1
-- The fineness of a symbol in ten-thousandths, 9990 for 999, and of an order's symbol when the order was recorded. The
-- hedge is measured in fine weight.
ALTER TABLE symbols ADD COLUMN fineness_e4 BIGINT NOT NULL DEFAULT 9990 CHECK (fineness_e4 BETWEEN 1 AND 10000);

ALTER TABLE hedge_requests ADD COLUMN fineness_e4 BIGINT NOT NULL DEFAULT 9990;
