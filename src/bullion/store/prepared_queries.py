"""Queries that nodes run while they hold a book or the traces, prepared before a transaction begins.

A query that is new to a connection takes two messages, and PostgreSQL has no time limit for a session that
waits for the second one. A node that stopped in between would keep its books locked until it goes on. Between
two queries, PostgreSQL ends such a session after seconds.
"""

RECORD = ("lock_books", "hold_stock", "record_plans", "move_stock")
VERIFY = ("hold_book", "order_by_key", "price_move_by_key", "archived_by_key", "fence_book")
CHANGE = (
    "order_at",
    "next_deal_no",
    "change_order",
    "insert_order_event",
    "uncount_order",
    "count_order",
    "release_weight",
    "release_symbol_weight",
    "return_stock",
)
HEDGE = (
    "claim_hedges",
    "claimed_hedges",
    "postpone_hedge",
    "withdraw_hedge",
    "one_hedge",
    "answer_hedge",
    "insert_unmatched_execution",
)
SUM = ("sum_blocks", "set_unsummed_from")
TRACE = ("hold_trace_batches", "insert_trace_batch", "forget_trace_batches")

ALL = RECORD + VERIFY + CHANGE + HEDGE + SUM + TRACE
