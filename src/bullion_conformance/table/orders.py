"""The calls, placing orders, and what an idempotency key promises."""

from bullion_conformance.requirement import NEEDS_A_FAULT, OF_CLIENTS, Row, rows

ORDERS = (
    *rows(
        "Endpoints",
        Row("endpoints.test", "All four reading calls are there on the test path."),
        Row("endpoints.production", "All four reading calls are there on the production path."),
        Row("endpoints.scope.me", "GET /me takes account:read and no other scope."),
        Row("endpoints.scope.place", "POST /orders takes orders:write and no other scope."),
        Row("endpoints.scope.list", "GET /orders takes orders:read and no other scope."),
        Row("endpoints.scope.read", "GET /orders/{order_id} takes orders:read and no other scope."),
        Row("endpoints.scope.positions", "GET /positions takes orders:read and no other scope."),
        Row("me.answers", "GET /me answers 200 with the account."),
    ),
    *rows(
        "POST {base}/orders: headers",
        Row("orders.key.required", "Without an Idempotency-Key an order is 400 idempotency_key_required."),
        Row("orders.key.length", "An Idempotency-Key has 1 to 64 characters: 64 pass, 65 are refused."),
        Row(
            "orders.key.per-account",
            "The key belongs to the account: after a change of API keys it still replays.",
        ),
        Row("orders.key.other-account", "The same Idempotency-Key of another account is another order."),
        Row("orders.content-type", "An order that is not labelled application/json is refused."),
    ),
    *rows(
        "POST {base}/orders: body",
        Row("orders.symbol_code.required", "An order without `symbol_code` is 422 invalid_request."),
        Row(
            "orders.symbol_code.length", "`symbol_code` has up to 32 characters; 33 are 422 invalid_request."
        ),
        Row("orders.trade_type.required", "An order without `trade_type` is refused."),
        Row("orders.trade_type.values", "`trade_type` is buy or sell; any other is 400 invalid_side."),
        Row("orders.quantity.required", "An order without `quantity` is 422 invalid_request."),
        Row("orders.quantity.positive", "A `quantity` of 0 or less is 422 invalid_request."),
        Row("orders.quantity.maximum", "A `quantity` of 1000000 is not invalid, one above it is."),
        Row("orders.quantity.decimals", "Four decimals of `quantity` are not invalid, five are."),
        Row("orders.expected_price.positive", "An `expected_price` of 0 or less is 422 invalid_request."),
        Row(
            "orders.expected_price.optional",
            "An order without `expected_price`, or near the price, is taken.",
        ),
        Row(
            "orders.expected_price.moved",
            "Far from its `expected_price` an order is 409 price_moved; nothing is booked.",
        ),
        Row(
            "orders.client_order_id.length",
            "`client_order_id` has up to 64 characters; 65 are 422 invalid_request.",
        ),
        Row("orders.same-bounds", "The production path refuses the same bodies as the test path."),
    ),
    *rows(
        "POST {base}/orders: answers",
        Row("orders.test.created", "A test order is answered 201, `filled`."),
        Row("orders.test.never-202", "A test order is never answered 202."),
        Row("orders.test.never-rejected", "A test order is never answered order_rejected."),
        Row("orders.test.never-booking", "A test order is never answered with a booking code."),
    ),
    *rows(
        "Idempotency rules",
        Row(
            "idempotency.replay",
            "Same key, same body: 200 with `Idempotent-Replayed: true`, and the same order.",
        ),
        Row("idempotency.replay.once", "However often it is sent, there is one order."),
        Row("idempotency.fresh-not-marked", "A first answer is not marked as a replay."),
        Row("idempotency.reused", "Same key, other body: 422 idempotency_key_reused."),
        Row("idempotency.reused.nothing-booked", "A key that was used for another body books nothing."),
        Row("idempotency.production.replay", "In production a replay is 200, marked, and the same order."),
        Row("idempotency.production.reused", "In production a reused key is 422 and books nothing."),
        Row(
            "idempotency.failed-booking",
            "After a failed booking the answer is what was committed.",
            NEEDS_A_FAULT,
        ),
        Row(
            "idempotency.after-503",
            "The same key after such a 503 gives the definite outcome.",
            NEEDS_A_FAULT,
        ),
        Row(
            "idempotency.503-retry-after",
            "The 503 answers of a failed booking carry Retry-After.",
            NEEDS_A_FAULT,
        ),
        Row("idempotency.replay-counts", "A replay counts against the order budget."),
        Row(
            "idempotency.findable",
            "An order is found in the list with the `client_order_id` that it was sent with.",
        ),
        Row(
            "idempotency.patience",
            "Clients try again with the same key, not a new one.",
            unchecked=OF_CLIENTS,
        ),
    ),
)
