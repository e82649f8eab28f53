-- Until the transaction ends: rows come in the order of an index, and only as many as are asked for are read. Left
-- to itself, PostgreSQL may think that few match, read all of them and sort.
SELECT set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true)
