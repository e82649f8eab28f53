SELECT count(*) AS total FROM venue_orders WHERE broker = $1 AND outcome IS NOT NULL
