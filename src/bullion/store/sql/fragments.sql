-- Text that several files include. Engine differences that recur are here, once.

-- fragment: for_update (postgres)
FOR UPDATE

-- fragment: for_update (sqlite)
-- SQLite has one writer: a transaction that writes holds the whole store.

-- fragment: for_share(table) (postgres)
-- No other session can change the row before this transaction ends.
FOR SHARE OF {table}

-- fragment: for_share(table) (sqlite)

-- fragment: only(value) (postgres)
-- A list of one value. A generic plan that PostgreSQL made while the table was empty cannot start from the other
-- table of this comparison and read all of it: it looks the row up by its key.
= ANY (ARRAY[{value}])

-- fragment: only(value) (sqlite)
= {value}

-- fragment: lookup_join (postgres)
-- Joins by looking up each row of the table on the left. SQLite keeps the order of tables in a CROSS JOIN.
INNER JOIN

-- fragment: lookup_join (sqlite)
CROSS JOIN

-- fragment: is_secret_of_store(secret)
-- Whether this names the secret that new hashes are made with: see Hasher.secret_id.
EXISTS (
    SELECT 1 FROM deployment WHERE deployment.name = 'secret_fingerprint' AND substr(deployment.value, 1, 16) = {secret}
)

-- fragment: json_list(list) (postgres)
-- A list of text or numbers, given as JSON: `items.value`.
jsonb_array_elements_text(CAST({list} AS TEXT)::JSONB) AS items (value)

-- fragment: json_list(list) (sqlite)
json_each({list}) AS items

-- fragment: json_rows(list) (postgres)
-- A list of lists, given as JSON, which is handed over faster than several arrays: `@item(0)` is the first value.
jsonb_array_elements(CAST({list} AS TEXT)::JSONB) AS items (value)

-- fragment: json_rows(list) (sqlite)
json_each({list}) AS items

-- fragment: item(place) (postgres)
items.value ->> {place}

-- fragment: item(place) (sqlite)
json_extract(items.value, '$[{place}]')

-- fragment: contains(text, part) (postgres)
strpos({text}, {part}) > 0

-- fragment: contains(text, part) (sqlite)
instr({text}, {part}) > 0
