SELECT value FROM deployment WHERE name = $1
