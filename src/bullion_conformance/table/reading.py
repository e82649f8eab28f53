"""Reading orders and positions, and the allocation's rules."""

from bullion_conformance.requirement import Row, rows

READING = (
    *rows(
        "GET {base}/orders",
        Row("list.answers", "GET /orders answers 200 with a list."),
        Row("list.limit.default", "Without `limit` a page holds 50 orders."),
        Row("list.limit.range", "`limit` is 1 to 200; 0 and 201 are 422 invalid_request."),
        Row("list.limit.kept", "A page holds no more than `limit` orders."),
        Row("list.offset.range", "`offset` is at least 0; below it is 422 invalid_request."),
        Row("list.offset.skips", "`offset` skips that many orders."),
        Row("list.symbol_code", "`symbol_code` keeps the orders of that symbol, in page and total."),
        Row("list.symbol_code.length", "`symbol_code` has up to 32 characters as a filter; 33 are 422."),
        Row("list.trade_type", "`trade_type` keeps the orders of that side, in page and total."),
        Row("list.trade_type.length", "`trade_type` has up to 8 characters as a filter; 9 are 422."),
        Row("list.since", "`since` keeps the orders from that time on, in page and total."),
        Row("list.since.unreadable", "A `since` that is no time is 422 invalid_request."),
        Row("list.status.each", "In production `status` keeps the orders in that state, in page and total."),
        Row("list.status.all", "`status=all` leaves out deleted orders, and nothing else that may be seen."),
        Row("list.status.default", "Without `status` the list is that of `all`."),
        Row("list.status.deleted", "`status=deleted` lists the deleted orders and no others."),
        Row("list.status.unknown", "Another `status` is 422 invalid_request."),
        Row("list.production.newest-first", "Production's list too has the newest order first."),
        Row(
            "list.production.total", "Production's `total` too counts what matches, whatever the page holds."
        ),
    ),
    *rows(
        "GET {base}/orders/{order_id}",
        Row("read.answers", "It answers 200 with the order."),
        Row("read.unknown", "An id that no order has is 404 order_not_found."),
        Row("read.other-account", "An order of another account is 404 order_not_found."),
        Row("read.hidden.pending", "A `pending` order of another channel is 404 order_not_found."),
        Row("read.hidden.rejected", "A `rejected` order of another channel is 404 order_not_found."),
        Row("read.free-of-order-budget", "Reading takes nothing of the order budget."),
    ),
    *rows(
        "GET {base}/positions",
        Row("positions.answers", "GET /positions answers 200."),
        Row("positions.own-book", "The test path shows the test book, the production path the real one."),
        Row("positions.same-allocation", "Both are measured against the same allocation."),
    ),
    *rows(
        "Allocation rules",
        Row(
            "allocation.weight",
            "The allocation is a weight: an order as large as it is taken, whatever it is worth.",
        ),
        Row("allocation.nets", "Buys and sells net off."),
        Row("allocation.past-limit", "An order that would take `used` past `limit` is 400 limit_exceeded."),
        Row("allocation.past-limit.short", "The same holds for selling."),
        Row(
            "allocation.reducing",
            "An order that reduces exposure is taken even while `used` is above `limit`.",
        ),
        Row("allocation.pending", "In production a `pending` order counts already."),
        Row("allocation.test-apart", "A test order does not move the real position."),
        Row("allocation.real-apart", "A real order does not move the test position."),
    ),
)
