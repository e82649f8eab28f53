-- Rows of traces are large and soon forgotten: to compress each costs more than the room it saves.
ALTER TABLE trace_batches ALTER COLUMN traces SET STORAGE EXTERNAL;
