DELETE FROM changes WHERE version <= $1
