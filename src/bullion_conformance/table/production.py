"""The states of an order, the ways between them, and who sees which."""

from bullion_conformance.requirement import OF_CLIENTS, Row, rows

PRODUCTION = (
    *rows(
        "States and transitions",
        Row("states.test.created-filled", "A test order is `filled` from the moment it is made."),
        Row("states.production.names", "A production order is in one of six states, and in no other."),
        Row("states.pending.counts", "A `pending` order is no deal yet, but counts toward the net position."),
        Row("states.open.booked", "An `open` order has its price."),
        Row("states.closed.fields", "A `closed` order has closing price, profit or loss, and closing time."),
        Row("states.rejected.nothing-booked", "Of a `rejected` order nothing counts."),
        Row("transitions.new-open", "An order that is booked at once is answered 201 and `open`."),
        Row("transitions.new-pending", "An order whose hedge takes its time is answered 202 and `pending`."),
        Row("transitions.confirmed", "When the hedge confirms, `pending` becomes `open`, with a price."),
        Row("transitions.refused", "When the hedge refuses a `pending` order, it becomes `rejected`."),
        Row("transitions.refused.answer", "An order that the hedge refuses is answered 409 order_rejected."),
        Row("transitions.refused.replay", "Its key sent again is answered 409 again, with the same fields."),
        Row("transitions.closing", "When the operator closes an `open` order, it becomes `closing`."),
        Row("transitions.closed", "When the operator completes that, `closing` becomes `closed`."),
        Row("transitions.whole-way", "An order can go from pending over open and closing to closed."),
        Row("states.deleted.readable", "A deleted order can still be read by its id, as `deleted`."),
    ),
    *rows(
        "Visibility in production",
        Row(
            "visibility.channels",
            "The list has the account's orders from every channel, each with its source.",
        ),
        Row("visibility.own-pending", "An API order that is `pending` is listed."),
        Row("visibility.own-rejected", "An API order that was `rejected` is listed."),
        Row(
            "visibility.hidden-pending",
            "An order of another channel is not listed while it is being confirmed.",
        ),
        Row(
            "visibility.hidden-rejected", "An order of another channel that the hedge refused is not listed."
        ),
        Row("visibility.appears", "Once it is confirmed, an order of another channel is listed as `open`."),
        Row("visibility.test", "The test list has test orders only."),
    ),
    *rows(
        "Polling a pending order",
        Row("polling.every-second", "Clients ask every one or two seconds.", unchecked=OF_CLIENTS),
        Row("polling.stop", "Polling ends in `open`, `rejected`, or rarely `deleted`."),
        Row("polling.give-up", "After some 30 seconds clients look again later.", unchecked=OF_CLIENTS),
    ),
)
