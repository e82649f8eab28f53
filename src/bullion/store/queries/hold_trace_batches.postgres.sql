-- One writer at a time, until its transaction ends: the next statement sees the last ordinal, and the next one is free.
-- A sequence would not do: batches would be committed out of order, and who reads those after an ordinal would miss some.
SELECT pg_advisory_xact_lock(5041216003)
