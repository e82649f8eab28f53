SELECT * FROM venue_orders WHERE order_id = $1
