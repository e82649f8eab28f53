"""Whose every table of the store is, for moving one broker to another store.

The tables are in an order in which a row comes after those that it refers to.
"""

# ruff: noqa: S608 - names of our own schema

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from bullion.allocation.book import ACCOUNTS_IN_RANGE, book_id
from bullion.environment import Environment

BROKER, ACCOUNT, BOOK, KEY, TOKEN, LINE = "broker", "account", "book", "key", "token", "line"

_ACCOUNTS = "SELECT id FROM accounts WHERE broker = $1"
_OWNERS = {
    BROKER: "{column} = $1",
    ACCOUNT: f"{{column}} IN ({_ACCOUNTS})",
    BOOK: f"{{column}} IN (SELECT books.id FROM books WHERE books.account_id IN ({_ACCOUNTS}))",
    KEY: f"{{column}} IN (SELECT keys.key_id FROM keys WHERE keys.account_id IN ({_ACCOUNTS}))",
    TOKEN: "{column} IN (SELECT tokens.token_id FROM tokens WHERE tokens.broker = $1)",
    LINE: (
        "{column} IN (SELECT states.line FROM line_states AS states WHERE states.broker = $1"
        " UNION SELECT sent.line FROM line_orders AS sent WHERE sent.broker = $1)"
    ),
}
"""By what a table is led to its broker, and the condition of its rows."""


class Turn(Enum):
    """When a table is copied and compared: the later, the more others wait for whoever has written it."""

    FIRST = 1
    VENUE = 2
    """Until the commit, nobody lists executions of the other store's simulated venue."""
    LAST = 3
    """Until the commit, no rate is stored there."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """What differs in the other store."""

    ranges: int = 0
    """By how many ranges the numbers of accounts go up."""
    rates_version: int = 0

    @property
    def accounts_by(self) -> int:
        return self.ranges * ACCOUNTS_IN_RANGE

    @property
    def books_by(self) -> int:
        return book_id(self.accounts_by, Environment.TEST)


@dataclass(frozen=True, slots=True)
class BrokerTable:
    """A table with rows of brokers."""

    name: str
    led_by: str
    column: str
    """The one that names the broker, account, book, key, token or line."""
    account_columns: tuple[str, ...] = ()
    """Those with the number of an account."""
    book_columns: tuple[str, ...] = ()
    """Those with the id of a book."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """Columns that have another value in the other store, and that value in SQL."""
    turn: Turn = Turn.FIRST

    @property
    def of_broker(self) -> str:
        """The condition of the rows of the broker $1."""
        return _OWNERS[self.led_by].format(column=self.column)

    def value(self, column: str, numbers: Numbers) -> str:
        """The value that a column has in the other store."""
        if column in self.fixed:
            return self.fixed[column].format(rates_version=numbers.rates_version)
        if column in self.account_columns:
            return f"{column} + {numbers.accounts_by}"
        if column in self.book_columns:
            return f"{column} + {numbers.books_by}"
        return column


def _of_broker(*names: str) -> tuple[BrokerTable, ...]:
    return tuple(BrokerTable(name, BROKER, "broker") for name in names)


def _of_book(*names: str) -> tuple[BrokerTable, ...]:
    return tuple(BrokerTable(name, BOOK, "book_id", book_columns=("book_id",)) for name in names)


def _of_line(*names: str) -> tuple[BrokerTable, ...]:
    return tuple(BrokerTable(name, LINE, "line") for name in names)


PACKS = "archived_orders"
"""Its packs contain the id of the book: they are packed again."""

COPIED: tuple[BrokerTable, ...] = (
    BrokerTable(
        "brokers",
        BROKER,
        "tag",
        fixed={"moved_store": "NULL::TEXT", "moved_to": "NULL::TEXT", "moved_at_us": "NULL::BIGINT"},
    ),
    *_of_broker("broker_hosts", "switches", "symbols", "stocks", "groups", "group_terms", "duties"),
    BrokerTable("accounts", BROKER, "broker", account_columns=("id",)),
    BrokerTable("keys", ACCOUNT, "account_id", account_columns=("account_id",)),
    BrokerTable("key_uses", KEY, "key_id"),
    *_of_broker("tokens"),
    BrokerTable("token_uses", TOKEN, "token_id"),
    BrokerTable("second_factors", TOKEN, "user_id"),
    BrokerTable("recovery_codes", TOKEN, "user_id"),
    *_of_broker("second_factor_rules", "audit", "audit_heads", "broker_events"),
    BrokerTable("books", ACCOUNT, "account_id", account_columns=("account_id",), book_columns=("id",)),
    *_of_book("orders", "order_events", "price_moves", "block_counts", PACKS, "archived_keys"),
    *_of_book("open_weights", "hedge_requests", "hand_covers", "hedge_rests", "hedge_parts"),
    *_of_book("account_events", "late_events", "webhooks", "webhook_attempts", "webhook_dead_events"),
    BrokerTable("hedge_fills", BROKER, "broker", book_columns=("book_id",)),
    *_of_broker("deals", "venues", "unmatched_executions", "execution_cursors"),
    *_of_broker("book_positions", "book_terms", "book_entries", "book_rules", "hedge_contracts"),
    *_of_broker("held_contracts", "covers", "cover_fills", "cover_marks", "currency_deals", "rate_candles"),
    BrokerTable("fix_lines", LINE, "name", fixed={"until_us": "0::BIGINT"}),
    *_of_line("line_orders", "line_fills", "line_executions", "line_seen", "line_states", "line_wishes"),
    BrokerTable("venue_orders", BROKER, "broker", turn=Turn.VENUE),
    BrokerTable("ticks", BROKER, "broker", fixed={"version": "{rates_version}::BIGINT"}, turn=Turn.LAST),
)

STAYS = {
    "catalogue": "the version of a store's own set-up; it is raised, and nodes read all of it again",
    "changes": "what changed at which version of that",
    "deployment": "values of the deployment: the secret's fingerprint, what nodes report",
    "desk_sessions": "sessions of a deployment's console; people log in again",
    "feed_guards": "settings of the deployment's live feed",
    "feed_preferences": "settings of the deployment's live feed",
    "feed_releases": "settings of the deployment's live feed",
    "leases": "which node does what, for seconds",
    "migrations": "the steps of a store's own schema",
    "rates": "the version of a store's ticks; it is raised",
    "trace_batches": "one ring for all brokers of a store; old traces are read there",
}
"""Tables that belong to a whole store, and why none of their rows is copied."""
