SELECT count(*) AS requests, min(order_id) AS oldest FROM hedge_requests WHERE state = 'waiting'
