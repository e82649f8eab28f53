SELECT position FROM execution_cursors WHERE venue = $1 AND broker = $2
