"""The records that the desk reads and changes, through the named queries.

Every change of something that nodes cache is also recorded as a change for them, in the same transaction, so
no action can forget to notify the nodes.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

import msgspec

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group
from bullion.accounts.switches import Switches
from bullion.allocation.book import book_id
from bullion.environment import Environment
from bullion.events.event import EventType
from bullion.keys.key import Key
from bullion.metals.metal import Metal
from bullion.metals.symbol import Symbol
from bullion.records.audit import BEFORE_ALL_ENTRIES, AuditFilter, Entry, Head
from bullion.records.clients import Allocation, Client, UsedKey
from bullion.records.market import SymbolWithStock
from bullion.records.node_report import NodeReport
from bullion.records.page import Page
from bullion.records.token import Token, UsedToken
from bullion.unreadable import Unreadable

from . import prepared_queries, row_decoders, rows
from .account_records import AccountRecords, part_of
from .archive_records import ArchiveRecords
from .book_profit import ProfitRecords
from .book_records import BookRecords
from .broker_place import MARK_STEP, moved_to
from .cover_planning import PlanRecords
from .cover_records import CoverRecords
from .decoding import readable
from .desk_transaction import DeskCache
from .engine import Engine, Row, Transaction, one_row
from .event_records import EventRecords
from .factor_records import FactorRecords
from .hedge_records import HedgeRecords
from .line_states import LineStateRecords
from .node_reports import read_reports
from .rate_records import RateRecords
from .search_records import SearchRecords
from .session_records import SessionRecords
from .webhooks import WebhookRecords

T = TypeVar("T")

_AUDIT_PAGE = 1_000
_CHANGES_KEPT = 10_000
"""A node that is further behind than this reads everything again."""


class Records(
    RateRecords,
    SearchRecords,
    HedgeRecords,
    BookRecords,
    CoverRecords,
    LineStateRecords,
    PlanRecords,
    ProfitRecords,
    ArchiveRecords,
    AccountRecords,
    SessionRecords,
    FactorRecords,
    EventRecords,
    WebhookRecords,
):
    """One open transaction. A change reaches the memory of every node within a second.

    Reading one row that cannot be decoded raises UnreadableRow; a list contains an Unreadable in its place.
    """

    # Brokers

    async def broker(self, tag: str) -> Broker | None:
        row = await self._find("one_broker", tag)
        if row is None:
            return None
        return readable(row_decoders.broker(row, await self._transaction.all("hosts_of_broker", tag)))

    async def brokers(self) -> list[Broker | Unreadable]:
        return [
            row_decoders.broker(row, await self._transaction.all("hosts_of_broker", row["tag"]))
            for row in await self._transaction.all("all_brokers")
        ]

    async def put_broker(self, broker: Broker) -> None:
        """May raise AlreadyExists: another broker has one of its hosts."""
        await self._record_change("broker", broker.tag, broker.tag)
        await self._transaction.run("put_broker", broker.tag, broker.name, await self.now_us())
        await self._transaction.run("drop_hosts", broker.tag)
        for host in broker.hosts:
            await self._transaction.run("insert_host", host, broker.tag)

    async def moved_to(self, broker: str) -> str | None:
        """The address of the store that it was moved to. None: it is here until this transaction ends."""
        return await moved_to(self._transaction, broker)

    async def seen_moved_to(self, broker: str) -> str | None:
        """The same without a lock, for those who only read."""
        row = await self._transaction.one("one_broker", broker)
        return None if row is None else row["moved_to"]

    async def seen_mark(self, broker: str) -> str | None:
        """The id of that store, without a lock."""
        row = await self._transaction.one("one_broker", broker)
        return None if row is None else row["moved_store"]

    async def end_access(self, broker: str) -> None:
        """Delete the desk's tokens of a broker, and end their sessions."""
        await self._transaction.run("delete_tokens_of_broker", broker, await self.now_us())
        await self._transaction.run("delete_sessions_of_broker", broker)

    async def move_mark(self, broker: str) -> str | None:
        """Lock the broker, and return the id of the store that it was moved to. May raise LookupError."""
        found: str | None = (await one_row(self._transaction, "moved_broker", broker))["moved_store"]
        return found

    async def put_move_mark(self, broker: str, store_id: str | None, address: str | None) -> None:
        """None: it is here again."""
        await self._record_change("broker", broker, broker)
        at_us = None if store_id is None else await self.now_us()
        await self._transaction.run("require_code_of_step", MARK_STEP)
        await self._transaction.run("mark_moved", broker, store_id, address, at_us)

    async def switches(self, broker: str) -> Switches | None:
        row = await self._transaction.one("one_switches", broker)
        return None if row is None else readable(row_decoders.switches(row))

    async def put_switches(self, switches: Switches) -> None:
        await self._record_change("switches", switches.broker, switches.broker)
        before = await self._transaction.one("one_switches", switches.broker)
        await self._transaction.run("put_switches", *rows.switches_values(switches))
        if before is not None and bool(before["halted"]) != switches.halted:
            await self._tell_halt(switches)

    async def node_reports(self) -> list[NodeReport]:
        """What the nodes last said about themselves."""
        return list((await read_reports(self._transaction)).values())

    # Symbols and groups

    async def symbol(self, broker: str, code: str) -> SymbolWithStock | None:
        row = await self._find("one_symbol", broker, code)
        return None if row is None else readable(_held(row))

    async def symbols(self, broker: str, page: Page) -> tuple[list[SymbolWithStock | Unreadable], int]:
        found, total = await self._page("symbols_page", "count_symbols", broker, page)
        return [_held(row) for row in found], total

    async def all_symbols(self, broker: str) -> list[Symbol | Unreadable]:
        """Every symbol of the broker, without stock."""
        return [row_decoders.symbol(row) for row in await self._transaction.all("symbols_of_broker", broker)]

    async def metal(self, broker: str, symbol_code: str) -> Metal | None:
        """Also for a symbol that cannot be decoded."""
        row = await self._find("one_symbol", broker, symbol_code)
        return None if row is None else Metal(row["metal"])

    async def put_symbol(self, symbol: Symbol) -> None:
        """Without its stock, which bookings change concurrently."""
        await self._record_change("symbol", symbol.broker, symbol.code)
        before = await self._transaction.one("one_symbol", symbol.broker, symbol.code)
        await self._transaction.run("put_symbol", *rows.symbol_values(symbol))
        if before is not None and bool(before["frozen"]) != symbol.frozen:
            await self._tell_freeze(symbol)

    async def stock(self, broker: str, symbol_code: str) -> int | None:
        """What is left of the symbol. None: it is not counted. Also for a symbol that cannot be decoded."""
        row = await self._find("one_symbol", broker, symbol_code)
        return None if row is None else row["stock_e4"]

    async def lock_stock(self, broker: str, symbol_code: str) -> int | None:
        """Lock the stock until this transaction ends, and read it. None: it is not counted."""
        row = await self._find("lock_stock", broker, symbol_code)
        return None if row is None else row["weight_e4"]

    async def put_stock(self, broker: str, symbol_code: str, weight_e4: int | None) -> None:
        """None: it is no longer counted."""
        if weight_e4 is None:
            await self._transaction.run("drop_stock", broker, symbol_code)
        else:
            await self._transaction.run("put_stock", broker, symbol_code, weight_e4)

    async def group(self, broker: str, code: str) -> Group | None:
        row = await self._find("one_group", broker, code)
        return None if row is None else readable(await self._group(row))

    async def groups(self, broker: str, page: Page) -> tuple[list[Group | Unreadable], int]:
        found, total = await self._page("groups_page", "count_groups", broker, page)
        return [await self._group(row) for row in found], total

    async def all_groups(self, broker: str) -> list[Group | Unreadable]:
        """Every group of the broker, with two queries."""
        terms: dict[str, list[Row]] = {}
        for row in await self._transaction.all("terms_of_broker", broker):
            terms.setdefault(row["group_code"], []).append(row)
        found = await self._transaction.all("groups_of_broker", broker)
        return [row_decoders.group(row, terms.get(row["code"], [])) for row in found]

    async def _group(self, row: Row) -> Group | Unreadable:
        return row_decoders.group(
            row, await self._transaction.all("terms_of_group", row["broker"], row["code"])
        )

    async def put_group(self, group: Group) -> None:
        await self._record_change("group", group.broker, group.code)
        await self._transaction.run("put_group", group.broker, group.code, int(group.trading))
        await self._transaction.run("drop_terms", group.broker, group.code)
        for values in rows.terms_values(group):
            await self._transaction.run("insert_terms", *values)

    # Accounts

    async def client(self, broker: str, login_id: str) -> Client | None:
        row = await self._find("one_account", broker, login_id)
        return None if row is None else readable(await self._client(row))

    async def account_id(self, broker: str, login_id: str) -> int | None:
        """Also of an account that cannot be read."""
        row = await self._find("one_account", broker, login_id)
        return None if row is None else int(row["id"])

    async def clients(self, broker: str, page: Page) -> tuple[list[Client | Unreadable], int]:
        found, total = await self._page("accounts_page", "count_accounts", broker, page)
        return [await self._client(row) for row in found], total

    async def _client(self, row: Row) -> Client | Unreadable:
        account, unreadable = row_decoders.account(row)
        if unreadable is not None:
            return unreadable
        limits = await one_row(self._transaction, "allocation", row["id"])
        allocation = Allocation(limits["gold_limit_e4"], limits["silver_limit_e4"])
        return Client(account, allocation, row["created_at_us"])

    async def insert_account(self, new: Account, allocation: Allocation) -> None:
        """With its two books. The store gives it its id. May raise AlreadyExists."""
        await self._record_change("account", new.broker, new.login_id)
        made = await one_row(
            self._transaction,
            "insert_account",
            new.broker,
            new.login_id,
            *rows.account_values(new),
            await self.now_us(),
        )
        account_id = made["id"]
        for environment in Environment:
            await self._transaction.run(
                "insert_book",
                book_id(account_id, environment),
                account_id,
                environment.value,
                allocation.gold_e4,
                allocation.silver_e4,
            )

    async def update_account(self, account: Account) -> None:
        await self._record_change("account", account.broker, account.login_id)
        await self._transaction.run("update_account", account.id, *rows.account_values(account))

    async def repair_account(self, broker: str, login_id: str) -> None:
        """Make an unreadable row readable; the caller must then update it."""
        await self._transaction.run("repair_account", broker, login_id, await self.now_us())

    async def set_allocation(self, account_id: int, allocation: Allocation) -> None:
        await self._transaction.run("set_allocation", account_id, allocation.gold_e4, allocation.silver_e4)
        await self._tell_allocation(account_id)

    # Keys

    async def key(self, broker: str, key_id: str) -> UsedKey | None:
        row = await self._find("one_key", key_id)
        return readable(row_decoders.used_key(row)) if row is not None and row["broker"] == broker else None

    async def keys(self, account_id: int, page: Page) -> tuple[list[UsedKey | Unreadable], int]:
        found, total = await self._page("keys_page", "count_keys", account_id, page)
        return [row_decoders.used_key(row) for row in found], total

    async def insert_key(self, key: Key, secret_id: str = "") -> None:
        """May raise AlreadyExists."""
        await self._record_change("key", key.broker, key.key_id)
        await self._transaction.run("insert_key", *rows.key_values(key), secret_id)

    async def revoke_key(self, key: Key, at_us: int) -> None:
        await self._record_change("key", key.broker, key.key_id)
        await self._transaction.run("revoke_key", key.key_id, at_us)
        await self._tell_key(EventType.KEY_REVOKED, key, at_us)

    async def repair_key(self, broker: str, key_id: str) -> None:
        """Turn an unreadable key into a revoked one."""
        await self._record_change("key", broker, key_id)
        await self._transaction.run("repair_key", key_id, "0" * 64, await self.now_us())

    async def replace_key(self, key: Key, successor: str, overlap_ends_at_us: int) -> None:
        await self._record_change("key", key.broker, key.key_id)
        await self._transaction.run("replace_key", key.key_id, successor, overlap_ends_at_us)
        replaced = msgspec.structs.replace(key, replaced_by=successor, overlap_ends_at_us=overlap_ends_at_us)
        await self._tell_key(EventType.KEY_ROTATED, replaced, await self.now_us())

    # Tokens

    async def token(self, token_id: str) -> Token | None:
        row = await self._find("one_token", token_id)
        return None if row is None else readable(row_decoders.token(row))

    async def used_token(self, token_id: str) -> UsedToken | None:
        row = await self._find("one_used_token", token_id)
        return None if row is None else readable(_used_token(row))

    async def tokens(self, broker: str, page: Page) -> tuple[list[UsedToken | Unreadable], int]:
        found, total = await self._page("tokens_page", "count_tokens", broker, page)
        return [_used_token(row) for row in found], total

    async def insert_token(self, token: Token, secret_id: str = "") -> None:
        await self._transaction.run(
            "insert_token",
            token.token_id,
            token.broker,
            token.name,
            token.role.value,
            token.secret_hash.hex(),
            token.created_at_us,
            secret_id,
        )

    async def update_token(self, token: Token) -> None:
        await self._transaction.run("update_token", token.token_id, token.name, token.role.value)

    async def rehash_token(self, token: Token, secret_hash: bytes, secret_id: str) -> None:
        await self._transaction.run(
            "rehash_token", token.token_id, token.secret_hash.hex(), secret_hash.hex(), secret_id
        )

    async def repair_token(self, token_id: str) -> None:
        """Turn an unreadable token into a deleted one."""
        await self._transaction.run("repair_token", token_id, "0" * 64, await self.now_us())

    async def delete_token(self, token_id: str, at_us: int) -> None:
        await self._transaction.run("delete_token", token_id, at_us)

    # The audit trail

    async def audit_head(self, broker: str) -> Head | None:
        return audit_head(await self._transaction.one("audit_head", broker))

    async def lock_audit_head(self, broker: str) -> Head | None:
        """Lock the head until this transaction ends: nobody else can append an entry.

        Always the last lock that a transaction takes, so that transactions cannot deadlock.
        """
        return audit_head(await self._transaction.one("lock_audit_head", broker))

    async def append_audit(self, entry: Entry, head: Head) -> None:
        await self._transaction.run(
            "insert_audit",
            entry.broker,
            entry.ordinal,
            entry.at_us,
            entry.actor,
            entry.action,
            entry.subject,
            entry.before,
            entry.after,
            entry.hash,
        )
        await self._transaction.run("put_audit_head", entry.broker, head.count, head.hash, head.seal)

    async def reseal_audit(self, broker: str, hashes: list[tuple[int, str]]) -> None:
        """Give entries, by ordinal, other hashes."""
        await self._transaction.run("reseal_audit", broker, msgspec.json.encode(hashes).decode())

    async def audit(self, broker: str, page: Page) -> tuple[list[Entry], int]:
        """Newest first."""
        found, total = await self._page("audit_page", "count_audit", broker, page)
        return [audit_entry(row) for row in found], total

    async def audit_matching(self, broker: str, wanted: AuditFilter, limit: int) -> list[Entry]:
        """Newest first."""
        actor, subject = part_of(wanted.actor), part_of(wanted.subject)
        found = await self._transaction.all(
            "audit_matching", broker, wanted.newest, wanted.oldest, wanted.action, actor, subject, limit
        )
        return [audit_entry(row) for row in found]

    async def audit_after(self, broker: str, ordinal: int, limit: int) -> list[Entry]:
        """Oldest first."""
        return [
            audit_entry(row) for row in await self._transaction.all("audit_after", broker, ordinal, limit)
        ]

    def audit_pages(self, broker: str) -> AsyncIterator[list[Entry]]:
        return audit_pages(self._transaction, broker)

    async def audited_brokers(self) -> list[str]:
        """Every broker that exists or has audit entries."""
        return [row["broker"] for row in await self._transaction.all("audit_brokers")]


class RecordStore:
    """May raise the faults of `bullion.faults`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._cache = DeskCache(engine)

    async def run(self) -> None:
        """Maintain the order timeline, which speeds up lists over all accounts, until cancelled."""
        await self._cache.timeline.run()

    async def can_write(self) -> bool:
        """False if the store can be read, and is known not to take writes."""
        return await self._engine.can_write()

    async def write(self, name: str, body: Callable[[Records], Awaitable[T]], *, catalogue: bool = True) -> T:
        """One durable transaction. `body` may run several times, and must have no other effects.

        `catalogue`: whether it may change what nodes cache. Such transactions run one after the other, and
        after each of them every node checks its waiting orders again.
        """

        async def with_new_version(transaction: Transaction) -> T:
            # First of all: this locks the catalogue's row, so changes are serialized.
            version = (await one_row(transaction, "move_version"))["version"]
            if version % 1000 == 0 and version > _CHANGES_KEPT:
                await transaction.run("delete_old_changes", version - _CHANGES_KEPT)
                await transaction.run("set_oldest_change", version - _CHANGES_KEPT)
            answer = await body(Records(transaction, self._cache))
            await transaction.run("notify_nodes", "")
            return answer

        async def without_version(transaction: Transaction) -> T:
            return await body(Records(transaction, self._cache))

        run = with_new_version if catalogue else without_version
        holding = prepared_queries.SETTINGS if catalogue else prepared_queries.ALL
        return await self._engine.write(name, run, custom_plans=True, holding=holding)

    async def read(self, name: str, body: Callable[[Records], Awaitable[T]]) -> T:
        """One snapshot."""
        return await self._engine.read(
            name, lambda transaction: body(Records(transaction, self._cache)), custom_plans=True
        )


def _used_token(row: Row) -> UsedToken | Unreadable:
    token = row_decoders.token(row)
    return (
        token
        if isinstance(token, Unreadable)
        else UsedToken(token, row["used_at_us"], row["sessions"], bool(row["has_factor"]))
    )


def _held(row: Row) -> SymbolWithStock | Unreadable:
    symbol = row_decoders.symbol(row)
    return symbol if isinstance(symbol, Unreadable) else SymbolWithStock(symbol, row["stock_e4"])


def audit_head(row: Row | None) -> Head | None:
    return None if row is None else Head(row["count"], row["hash"], row["seal"])


async def audit_pages(transaction: Transaction, broker: str) -> AsyncIterator[list[Entry]]:
    """All audit entries of a broker, oldest first, in pages."""
    last = BEFORE_ALL_ENTRIES
    while rows := await transaction.all("audit_after", broker, last, _AUDIT_PAGE):
        yield [audit_entry(row) for row in rows]
        last = rows[-1]["ordinal"]


def audit_entry(row: Row) -> Entry:
    return Entry(
        broker=row["broker"],
        ordinal=row["ordinal"],
        at_us=row["at_us"],
        actor=row["actor"],
        action=row["action"],
        subject=row["subject"],
        before=row["before"],
        after=row["after"],
        hash=row["hash"],
    )
