-- Nothing to say: the nodes see the file change.
SELECT 1
