-- oldest level: 1
-- The broker's limits of prices: how far one change of the desk may move them, and whether crossed ones are traded.
ALTER TABLE switches ADD COLUMN price_move_percent_max_e4 BIGINT NOT NULL DEFAULT 30000
CHECK (price_move_percent_max_e4 BETWEEN 0 AND 1000000);

ALTER TABLE switches ADD COLUMN refuse_crossed BIGINT NOT NULL DEFAULT 1 CHECK (refuse_crossed IN (0, 1));
