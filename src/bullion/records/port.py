"""The port to what the desk keeps, in the desk's own words."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group
from bullion.accounts.switches import Switches
from bullion.allocation.book import Book
from bullion.environment import Environment
from bullion.hedge.simulated import Conduct
from bullion.keys.key import Key
from bullion.metals.metal import Metal
from bullion.metals.symbol import Symbol
from bullion.orders.order import Order
from bullion.orders.packed_orders import PackedOrders
from bullion.rates.duty import Duty, DutyTable
from bullion.rates.tick import Tick
from bullion.unreadable import Unreadable

from .archive import ArchiveSize, BookToArchive, TraceBatch
from .audit import AuditFilter, Entry, Head
from .clients import KeyTimes, Overseen
from .hedges import Execution, Exposure, FoundHedge, FoundUnmatched, Hedge
from .orders import FoundOrder, FoundTrace, OrderEvent, OrderFilter, Tally
from .token import Token

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page:
    limit: int
    offset: int


@dataclass(frozen=True, slots=True)
class Allocation:
    """How far a client's open position may go, per metal."""

    gold_e4: int
    silver_e4: int


@dataclass(frozen=True, slots=True)
class Client:
    """An account with what the desk keeps beside it."""

    account: Account
    allocation: Allocation
    created_at_us: int


@dataclass(frozen=True, slots=True)
class NewAccount:
    broker: str
    login_id: str
    firm_name: str | None
    group: str
    active: bool
    api_access: bool
    production_trading: bool
    scenarios: bool = False


@dataclass(frozen=True, slots=True)
class HeldSymbol:
    symbol: Symbol
    stock_e4: int | None
    """None: stock is not counted."""


@dataclass(frozen=True, slots=True)
class UsedKey:
    key: Key
    login_id: str
    last_used_at_us: int | None


@dataclass(frozen=True, slots=True)
class HeldTick:
    """The tick that the board shows of an instrument."""

    tick: Tick
    own: bool
    """Put by the broker's own desk, not by the feed that all brokers share."""


class Records(Protocol):
    """One open transaction. What is put here reaches the memory of every node within a second.

    Whoever asks for one thing whose row cannot be read meets UnreadableRow; a list has it as Unreadable.
    """

    async def now_us(self) -> int:
        """The store's clock."""

    async def broker(self, tag: str) -> Broker | None: ...
    async def brokers(self) -> list[Broker | Unreadable]: ...
    async def put_broker(self, broker: Broker) -> None:
        """May raise AlreadyThere: another broker has one of its hosts."""

    async def switches(self, broker: str) -> Switches | None: ...
    async def put_switches(self, switches: Switches) -> None: ...

    async def symbol(self, broker: str, code: str) -> HeldSymbol | None: ...
    async def symbols(self, broker: str, page: Page) -> tuple[list[HeldSymbol | Unreadable], int]: ...
    async def metal(self, broker: str, symbol_code: str) -> Metal | None:
        """Known also of a symbol that cannot be read."""

    async def put_symbol(self, symbol: Symbol) -> None:
        """Without its stock, which bookings move meanwhile."""

    async def hold_stock(self, broker: str, symbol_code: str) -> int | None:
        """As it is now; no booking moves it before this transaction ends. None: it is not counted."""

    async def put_stock(self, broker: str, symbol_code: str, weight_e4: int | None) -> None:
        """None: it is no longer counted."""

    async def group(self, broker: str, code: str) -> Group | None: ...
    async def groups(self, broker: str, page: Page) -> tuple[list[Group | Unreadable], int]: ...
    async def put_group(self, group: Group) -> None: ...

    async def tick(self, broker: str, instrument: str) -> HeldTick | None: ...
    async def ticks(self, broker: str) -> list[HeldTick | Unreadable]:
        """Of each instrument the one that orders are priced by."""

    async def put_tick(self, broker: str, tick: Tick) -> None:
        """Since when the price has been what it is, the store finds out itself."""

    async def duty(self, broker: str, name: str) -> DutyTable | None: ...
    async def duties(self, broker: str) -> list[DutyTable | Unreadable]: ...
    async def put_duty(self, table: DutyTable) -> None: ...
    async def order_priced_by(self, table: DutyTable, duty: Duty, from_us: int, until_us: int) -> str | None:
        """The id of a production order of that time which this entry is in the price of."""

    async def client(self, broker: str, login_id: str) -> Client | None: ...
    async def clients(self, broker: str, page: Page) -> tuple[list[Client | Unreadable], int]: ...
    async def insert_account(self, new: NewAccount, allocation: Allocation) -> None:
        """With its two books. May raise AlreadyThere."""

    async def overseen(
        self, broker: str, search: str | None, after: str, times: KeyTimes, limit: int
    ) -> list[Overseen | Unreadable]:
        """Accounts after a login, in the order of logins, whose login or firm has these words in it."""

    async def books(self, account_id: int) -> dict[Environment, Book]: ...
    async def update_account(self, account: Account) -> None: ...
    async def repair_account(self, broker: str, login_id: str) -> None:
        """Make one readable that is not; it is then to be updated."""

    async def set_allocation(self, account_id: int, allocation: Allocation) -> None: ...

    async def hold_book(self, account_id: int, environment: Environment) -> Book:
        """As it is now; no order gets into it before this transaction ends."""

    async def reset_book(self, book: Book) -> None:
        """Archive all its orders: nothing is open, nothing is listed, and their numbers go on."""

    async def order(self, broker: str, order_id: str) -> FoundOrder | None:
        """Archived ones too."""

    async def orders(self, broker: str, wanted: OrderFilter, page: Page) -> tuple[list[FoundOrder], int]:
        """Newest first, without archived ones."""

    async def hold_order(self, broker: str, order_id: str) -> FoundOrder | None:
        """As it is now; it stays so until this transaction ends, for its book is held."""

    async def change_order(
        self, before: Order, now: Order, at_us: int, actor: str, words: str | None
    ) -> None:
        """Write what became of an order that is held, with all that follows for its book and stock."""

    async def next_deal_no(self, broker: str) -> int: ...
    async def order_events(self, order: Order) -> list[OrderEvent]:
        """Oldest first, without its being recorded."""

    async def hedge(self, order: Order) -> Hedge | None:
        """What is asked of the venue for the order; None: nothing, as for a test order."""

    async def answer_hedge(self, order: Order, execution: Execution, words: str | None) -> None:
        """The request is answered by this, and nobody asks the venue any more."""

    async def withdraw_hedge(self, order: Order) -> None:
        """Nobody asks the venue any more; one that is answered stays as it is."""

    async def hedge_queue(self, broker: str, page: Page) -> tuple[list[FoundHedge], int]:
        """Requests that wait for the venue's word, oldest first."""

    async def hedge_breaks(self, broker: str, page: Page) -> tuple[list[FoundHedge], int]:
        """Where the venue contradicted what had become of the order, oldest first."""

    async def unmatched_executions(self, broker: str, page: Page) -> tuple[list[FoundUnmatched], int]:
        """Executions that no order accounts for and nobody has resolved, the first seen first."""

    async def unmatched_execution(self, broker: str, execution_id: str) -> FoundUnmatched | None:
        """Resolved or not; of several venues, one that is not resolved."""

    async def resolve_unmatched(self, broker: str, found: FoundUnmatched, actor: str, note: str) -> bool:
        """The desk has dealt with it. False: somebody did so before."""

    async def exposure(self, broker: str) -> dict[Metal, Exposure]:
        """Of production; a metal that nobody holds or waits for may be missing."""

    async def resolve_break(self, order: Order, actor: str, note: str) -> bool:
        """The desk has dealt with it. False: there is no break."""

    async def venue_conduct(self, broker: str) -> Conduct: ...
    async def put_venue_conduct(self, conduct: Conduct) -> None: ...
    async def execute(self, broker: str, wanted: Execution) -> Execution:
        """Put the desk's own word into the venue's book. What stands there then: the first word stays."""

    async def executions(self, broker: str, order_id: str | None, page: Page) -> tuple[list[Execution], int]:
        """Those of the newest orders first."""

    async def trace(self, broker: str, request_id: str) -> FoundTrace | None: ...
    async def traces(
        self, broker: str, login_id: str | None, outcome: str | None, limit: int
    ) -> list[FoundTrace]:
        """Newest first, as far as a bounded look back finds them."""

    async def tallies(self, broker: str, after_ordinal: int | None, since_us: int) -> tuple[list[Tally], int]:
        """Decisions since a time, counted by minute, oldest first; and how far the book of them was read.

        With `after_ordinal`, which an earlier look returned, those alone that were written since. Bounded: of
        very many, the newest.
        """

    async def books_to_archive(
        self, broker: str, login_id: str, limit: int, before_us: int, *, this_too: bool = False
    ) -> list[BookToArchive]:
        """Of the accounts that come after a login what was made before a time and can be archived.

        All accounts, also those that have nothing of it.
        """

    async def orders_to_archive(self, book_id: int, first_ordinal: int, last_ordinal: int) -> list[Order]:
        """Oldest first."""

    async def archive_orders(self, packed: PackedOrders) -> bool:
        """Take these orders out of the working tables. False: somebody else was first; nothing was done."""

    async def archived_packs(self, book_id: int, after_ordinal: int, limit: int) -> list[PackedOrders]:
        """Those of a book that begin after this ordinal, oldest first."""

    async def archive_size(self, broker: str, login_id: str | None) -> ArchiveSize: ...
    async def trace_batches(
        self, broker: str, after_ordinal: int, before_us: int, limit: int
    ) -> list[TraceBatch]:
        """Those that may have decisions from before a time in them, oldest first."""

    async def forget_traces(self, batch: TraceBatch) -> None:
        """Those that were wanted of it. Nothing is done if it is no longer what was read."""

    async def key(self, broker: str, key_id: str) -> UsedKey | None: ...
    async def keys(self, account_id: int, page: Page) -> tuple[list[UsedKey | Unreadable], int]: ...
    async def insert_key(self, key: Key) -> None: ...
    async def revoke_key(self, key: Key, at_us: int) -> None: ...
    async def repair_key(self, broker: str, key_id: str) -> None:
        """Make a revoked key of one that cannot be read."""

    async def replace_key(self, key: Key, successor: str, overlap_ends_at_us: int) -> None: ...

    async def token(self, token_id: str) -> Token | None: ...
    async def tokens(self, broker: str, page: Page) -> tuple[list[Token | Unreadable], int]: ...
    async def insert_token(self, token: Token) -> None: ...
    async def repair_token(self, token_id: str) -> None:
        """Make a deleted token of one that cannot be read."""

    async def delete_token(self, token_id: str, at_us: int) -> None: ...

    async def audit_head(self, broker: str) -> Head | None: ...
    async def hold_audit_head(self, broker: str) -> Head | None:
        """As it is now; nobody else appends before this transaction ends.

        The last thing that a transaction holds: whoever waits here waits for nobody who waits for us.
        """

    async def append_audit(self, entry: Entry, head: Head) -> None: ...
    async def audit(self, broker: str, page: Page) -> tuple[list[Entry], int]:
        """Newest first."""

    async def audit_matching(self, broker: str, wanted: AuditFilter, limit: int) -> list[Entry]:
        """Newest first."""

    async def audit_after(self, broker: str, ordinal: int, limit: int) -> list[Entry]:
        """Oldest first."""

    async def audited_brokers(self) -> list[str]:
        """Every broker that there is or that left a trail."""


class RecordStore(Protocol):
    """May raise the faults of `bullion.faults`."""

    async def write(self, name: str, body: Callable[[Records], Awaitable[T]], *, catalogue: bool = True) -> T:
        """One durable transaction; `body` may be run again and must have no other effect.

        `catalogue`: whether it may change what nodes keep in memory. Such transactions come one after the
        other, and after each every node judges anew what it has in hand.
        """

    async def read(self, name: str, body: Callable[[Records], Awaitable[T]]) -> T:
        """One snapshot."""
