-- What was decided on the version before is not recorded any more.
UPDATE books SET version = version + 1 WHERE id = $1
