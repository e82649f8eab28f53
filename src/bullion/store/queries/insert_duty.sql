INSERT INTO duties (broker, name, from_date, rupees_paise) VALUES ($1, $2, $3, $4)
