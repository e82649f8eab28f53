INSERT INTO price_moves (
    book_id, source, idempotency_key, symbol_code, trade_type, quantity_e4, expected_price,
    client_order_id, price_paise, tolerance_percent_e4, request_id, at_us
)
VALUES $rows
