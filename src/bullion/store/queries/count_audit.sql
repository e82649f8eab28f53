SELECT count(*) AS total FROM audit WHERE broker = $1
