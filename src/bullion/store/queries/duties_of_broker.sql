SELECT broker, name, from_date, rupees_paise FROM duties WHERE broker = $1 ORDER BY name, from_date
