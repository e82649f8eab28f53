INSERT INTO orders (
    book_id, ordinal, id, source, idempotency_key, symbol_code, trade_type, quantity_e4, expected_price,
    client_order_id, metal, price_paise, total_paise, status, key_id, request_id, created_at_us,
    price_anatomy
)
VALUES $rows
