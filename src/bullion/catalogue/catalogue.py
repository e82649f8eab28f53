"""The node's memory of brokers, accounts, groups, symbols, keys and switches."""

import time
from collections.abc import Callable

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group
from bullion.accounts.switches import Switches
from bullion.keys.key import Key
from bullion.metals.symbol import Symbol
from bullion.rates.duty import DutyTable

from .clients import Clients
from .source import NOTHING_MORE, Changes, Entry, Wanted

US_PER_S = 1_000_000


class Catalogue:
    """Read by every call, changed only by `apply`.

    Only accounts and keys may be missing from it, where there are too many of them: see `clients`.
    """

    def __init__(
        self, monotonic_ns: Callable[[], int] = time.monotonic_ns, clients: Clients | None = None
    ) -> None:
        self._monotonic_ns = monotonic_ns
        self.clients = clients or Clients()
        self.accounts = self.clients.accounts
        self.keys = self.clients.keys
        self._clock_ahead_us = 0
        self._applied_at_ns: int | None = None
        self.version: int | None = None
        self._forget()

    def _forget(self) -> None:
        self.clients.forget()
        self.brokers: dict[str, Broker] = {}
        self.hosts: dict[str, str] = {}
        self.groups: dict[tuple[str, str], Group] = {}
        self.symbols: dict[tuple[str, str], Symbol] = {}
        self.switches: dict[str, Switches] = {}
        self.duties: dict[tuple[str, str], DutyTable] = {}

    def switches_of(self, broker: str) -> Switches:
        """The broker's switches; until the desk first touches them, as they are by default."""
        switches = self.switches.get(broker)
        if switches is None:
            switches = self.switches[broker] = Switches(broker)
        return switches

    @property
    def loaded(self) -> bool:
        return self.version is not None

    def now_us(self) -> int:
        """The store's clock, as far as we know it: this node's own may be wrong."""
        return self._monotonic_ns() // 1000 + self._clock_ahead_us

    def age_s(self) -> float:
        """Seconds since memory was last known to be what the store holds."""
        if self._applied_at_ns is None:
            return float("inf")
        return (self._monotonic_ns() - self._applied_at_ns) / 1_000_000_000

    def older_than(self, age_ns: int) -> bool:
        """Whether memory was last known to be right longer ago than that."""
        return self._applied_at_ns is None or self._monotonic_ns() - self._applied_at_ns > age_ns

    def apply(self, changes: Changes, asked_at_ns: int, wanted: Wanted = NOTHING_MORE) -> None:
        """Take over what the store answered to a question for `wanted`, asked at `asked_at_ns`."""
        if self.version is not None and changes.version < self.version and not changes.whole:
            return  # An answer that was overtaken by a later one.
        if changes.whole:
            self._forget()
        for entry in changes.entries:
            self._put(entry)
        if changes.whole or self.clients.fill_after is not None:
            self.clients.turn_page(changes.page_ends_at, wanted)
        self.clients.make_room(wanted)
        self.version = changes.version
        self._applied_at_ns = asked_at_ns
        # By when it was asked: an answer that was long on its way must not set the clock back.
        self._clock_ahead_us = changes.clock_us - asked_at_ns // 1000

    def _put(self, entry: Entry) -> None:
        match entry:
            case Key():
                self.keys[entry.key_id] = entry
            case Account():
                self.accounts[entry.id] = entry
            case Symbol():
                self.symbols[entry.broker, entry.code] = entry
            case Group():
                self.groups[entry.broker, entry.code] = entry
            case Switches():
                self.switches[entry.broker] = entry
            case DutyTable():
                self.duties[entry.broker, entry.name] = entry
            case Broker():
                self.brokers[entry.tag] = entry
                self.hosts = {host: tag for host, tag in self.hosts.items() if tag != entry.tag}
                self.hosts.update(dict.fromkeys(entry.hosts, entry.tag))
