SELECT broker, name, from_date, rupees_paise FROM duties ORDER BY broker, name, from_date
