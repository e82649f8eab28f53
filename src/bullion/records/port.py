"""The port to what the desk keeps, in the desk's own words."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group
from bullion.accounts.switches import Switches
from bullion.keys.key import Key
from bullion.metals.symbol import Symbol

from .audit import Entry, Head
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


class Records(Protocol):
    """One open transaction. What is put here reaches the memory of every node within a second."""

    async def now_us(self) -> int:
        """The store's clock."""

    async def broker(self, tag: str) -> Broker | None: ...
    async def brokers(self) -> list[Broker]: ...
    async def put_broker(self, broker: Broker) -> None:
        """May raise AlreadyThere: another broker has one of its hosts."""

    async def switches(self, broker: str) -> Switches | None: ...
    async def put_switches(self, switches: Switches) -> None: ...

    async def symbol(self, broker: str, code: str) -> HeldSymbol | None: ...
    async def symbols(self, broker: str, page: Page) -> tuple[list[HeldSymbol], int]: ...
    async def put_symbol(self, symbol: Symbol) -> None: ...
    async def put_stock(self, broker: str, symbol_code: str, weight_e4: int | None) -> None: ...

    async def group(self, broker: str, code: str) -> Group | None: ...
    async def groups(self, broker: str, page: Page) -> tuple[list[Group], int]: ...
    async def put_group(self, group: Group) -> None: ...

    async def client(self, broker: str, login_id: str) -> Client | None: ...
    async def clients(self, broker: str, page: Page) -> tuple[list[Client], int]: ...
    async def insert_account(self, new: NewAccount, allocation: Allocation) -> None:
        """With its two books. May raise AlreadyThere."""

    async def update_account(self, account: Account) -> None: ...
    async def set_allocation(self, account_id: int, allocation: Allocation) -> None: ...

    async def key(self, broker: str, key_id: str) -> UsedKey | None: ...
    async def keys(self, account_id: int, page: Page) -> tuple[list[UsedKey], int]: ...
    async def insert_key(self, key: Key) -> None: ...
    async def revoke_key(self, key: Key, at_us: int) -> None: ...
    async def replace_key(self, key: Key, successor: str, overlap_ends_at_us: int) -> None: ...

    async def token(self, token_id: str) -> Token | None: ...
    async def tokens(self, broker: str, page: Page) -> tuple[list[Token], int]: ...
    async def insert_token(self, token: Token) -> None: ...
    async def delete_token(self, token_id: str, at_us: int) -> None: ...

    async def audit_head(self, broker: str) -> Head | None: ...
    async def append_audit(self, entry: Entry, head: Head) -> None: ...
    async def audit(self, broker: str, page: Page) -> tuple[list[Entry], int]:
        """Newest first."""

    async def audit_after(self, broker: str, ordinal: int, limit: int) -> list[Entry]:
        """Oldest first."""

    async def audited_brokers(self) -> list[str]:
        """Every broker that there is or that left a trail."""


class RecordStore(Protocol):
    """May raise the faults of `bullion.faults`."""

    async def write(self, name: str, body: Callable[[Records], Awaitable[T]]) -> T:
        """One durable transaction; `body` may be run again and must have no other effect."""

    async def read(self, name: str, body: Callable[[Records], Awaitable[T]]) -> T:
        """One snapshot."""
