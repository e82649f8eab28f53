SELECT broker, name, from_date, rupees_paise FROM duties WHERE broker = $1 AND name = $2 ORDER BY from_date
