"""Queries that run while a book or the traces are locked. Each transaction names its own as `holding`.

They are prepared before it begins, once for each connection; most connections only ever need a few of them.

A query that is new to a connection takes two messages, and PostgreSQL has no timeout for a session that waits
for the second one. A node that is paused in between would keep its locks. Between two queries, the
`idle_in_transaction_session_timeout` ends such a session after seconds.
"""

RECORD = ("lock_books", "lock_stock", "record_plans", "move_stock")
VERIFY = ("lock_book", "order_by_key", "price_move_by_key", "archived_by_key", "fence_book")
EVENT = ("lock_free_book", "number_event", "insert_order_event", "insert_account_event", "insert_late_event")
CHANGE = (
    *EVENT,
    "order_at",
    "next_deal_no",
    "change_order",
    "uncount_order",
    "count_order",
    "release_weight",
    "release_symbol_weight",
    "return_stock",
)
UNMATCHED = ("unmatched_at_venue", "insert_unmatched_execution")
HEDGE = (
    "claim_hedges",
    "claimed_hedges",
    "postpone_hedges",
    "withdraw_hedge",
    "one_hedge",
    "answer_hedge",
    *UNMATCHED,
)
PARTS = ("insert_fill", "one_part", "insert_part", "put_rest", "wait_for_rest", "accounted_parts")
HOUSE_BOOK = (
    "keeps_books",
    "book_of_order",
    "move_book_position",
    "insert_book_entry",
    "lock_deals",
    "lock_book_position",
    "lock_free_books",
    "waiting_orders",
    "hold_hedge",
    "confirm_orders",
)
COVERS = (
    "lock_cover",
    "one_cover_fill",
    "add_held",
    "insert_cover_fill",
    "finish_cover",
    "fills_of_covers",
    "adopt_execution",
)
PLAN = (
    "catalogue_state",
    "take_lease",
    "lock_suggestions",
    "one_book_position",
    "open_covers",
    "books_with_held_orders",
    "contracts_of_broker",
    "rules_of_book",
    "entries_before",
    "declined_contracts",
    "delete_suggestion",
    "keep_suggestion",
    "insert_planned_cover",
)
SUM = ("lock_book", "sum_blocks", "set_unsummed_from")
TRACE = ("lock_trace_batches", "insert_trace_batch", "delete_old_trace_batches")

SETTINGS = (*EVENT, "catalogue_state", "insert_book_entry", "one_book_position")
"""When the desk changes what nodes keep in memory. Accounts get an event of it; a hedge book is opened so."""
LATE_EVENT = (*EVENT, "delete_late_event")
"""When an event is entered whose book was locked."""
ANSWER = ("lock_book", *CHANGE, *HEDGE, *PARTS, *HOUSE_BOOK)
"""When the venue has answered orders."""
JUDGE = ("lock_book", *HOUSE_BOOK)
"""When the house's book answers orders."""
ANSWER_COVER = (*COVERS, *UNMATCHED, *HOUSE_BOOK)
PLAN_COVERS = (*PLAN, "lock_book_position")
ALL = tuple(dict.fromkeys(RECORD + VERIFY + ANSWER + COVERS + PLAN + SUM + TRACE))
