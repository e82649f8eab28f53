"""The node's cache of brokers, accounts, groups, symbols, keys and switches."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group
from bullion.accounts.switches import Switches
from bullion.keys.key import Key
from bullion.metals.symbol import Symbol
from bullion.rates.duty import DutyTable
from bullion.unreadable import Unreadable, UnreadableRows

from .clients import Clients
from .source import NO_EXTRA_READS, Changes, Entry, ExtraReads

US_PER_S = 1_000_000


class Catalogue:
    """Read by every call, changed only by `apply`.

    Only accounts and keys may be missing, if there are too many of them: see `clients`.
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
        self.serial = 0
        """Incremented whenever what is here may have changed: another primary may use a version twice."""
        self.unreadable = UnreadableRows()
        """Rows that cannot be read. Their things are missing below, or closed."""
        self._clear()

    def _clear(self) -> None:
        self.clients.clear()
        self.unreadable.clear()
        self.brokers: dict[str, Broker] = {}
        self.hosts: dict[str, str] = {}
        self.groups: dict[tuple[str, str], Group] = {}
        self.symbols: dict[tuple[str, str], Symbol] = {}
        self._symbols_of: dict[str, dict[str, Symbol]] = {}
        self.switches: dict[str, Switches] = {}
        self.duties: dict[tuple[str, str], DutyTable] = {}

    def switches_of(self, broker: str) -> Switches:
        """The broker's switches; the defaults until the desk first changes them."""
        switches = self.switches.get(broker)
        if switches is None:
            switches = self.switches[broker] = Switches(broker)
        return switches

    def symbols_of(self, broker: str) -> Mapping[str, Symbol]:
        """The broker's symbols by their codes, however many others there are."""
        return self._symbols_of.get(broker, {})

    def account_of_key(self, key_id: str) -> int | None:
        """The id of the account that the key is of, if it is in memory."""
        key = self.keys.get(key_id)
        return None if key is None else key.account_id

    @property
    def loaded(self) -> bool:
        return self.version is not None

    def now_us(self) -> int:
        """The store's clock, as last read: this node's own clock may be wrong."""
        return self._monotonic_ns() // 1000 + self._clock_ahead_us

    def age_s(self) -> float:
        """Seconds since memory was last known to be up to date."""
        if self._applied_at_ns is None:
            return float("inf")
        return (self._monotonic_ns() - self._applied_at_ns) / 1_000_000_000

    def older_than(self, age_ns: int) -> bool:
        """Whether memory was last known to be up to date longer ago than that."""
        return self._applied_at_ns is None or self._monotonic_ns() - self._applied_at_ns > age_ns

    def apply(self, changes: Changes, asked_at_ns: int, extra: ExtraReads = NO_EXTRA_READS) -> None:
        """Apply the result of a read that began at `asked_at_ns` and included `extra`."""
        if self.version is not None and changes.version < self.version and not changes.whole:
            return  # A later result was applied before this one.
        if changes.whole or changes.version != self.version:
            self.serial += 1  # First: an error may leave half of the changes here.
        if changes.whole:
            self._clear()
        for entry in changes.entries:
            self._put(entry)
        if changes.whole or self.clients.fill_after is not None:
            self.clients.finish_page(changes.page_ends_at, extra)
        self.clients.evict(extra)
        self.version = changes.version
        first, self._applied_at_ns = self._applied_at_ns is None, asked_at_ns
        # The store read its clock between the start of the read and now. A read that waited on its way must
        # not set this node's clock ahead, nor an answer that waited set it back.
        least_us = changes.clock_us - self._monotonic_ns() // 1000
        most_us = changes.clock_us - asked_at_ns // 1000
        self._clock_ahead_us = most_us if first else min(max(self._clock_ahead_us, least_us), most_us)

    def _put(self, entry: Entry) -> None:
        match entry:
            case Unreadable():
                self._put_unreadable(entry)
            case Key():
                self.keys[entry.key_id] = entry
                self._read("key", entry.broker, entry.key_id)
            case Account():
                self.accounts[entry.id] = entry
                self._read("account", entry.broker, entry.login_id)
            case Symbol():
                self.symbols[entry.broker, entry.code] = entry
                self._symbols_of.setdefault(entry.broker, {})[entry.code] = entry
                self._read("symbol", entry.broker, entry.code)
            case Group():
                self.groups[entry.broker, entry.code] = entry
                self._read("group", entry.broker, entry.code)
            case Switches():
                self._put_switches(entry)
                self._read("switches", entry.broker, entry.broker)
            case DutyTable():
                self.duties[entry.broker, entry.name] = entry
                self._read("duty", entry.broker, entry.name)
            case Broker():
                self._put_broker(entry)
                if self._read("broker", entry.tag, entry.tag):
                    self.switches.pop(entry.tag, None)  # They follow in the same answer.

    def _read(self, kind: str, broker: str, subject: str) -> bool:
        """Mark a row as readable. True if it was unreadable before."""
        return bool(self.unreadable) and self.unreadable.discard(kind, broker, subject)

    def _put_unreadable(self, entry: Unreadable) -> None:
        """Replace what was read before by its closed stand-in, or remove it."""
        self.unreadable.add(entry)
        name = (entry.broker, entry.subject)
        match entry.kind, entry.stand_in:
            case "key", _:
                self.keys.pop(entry.subject, None)
            case "symbol", _:
                self.symbols.pop(name, None)
                self._symbols_of.get(entry.broker, {}).pop(entry.subject, None)
            case "group", _:
                self.groups.pop(name, None)
            case "duty", _:
                self.duties.pop(name, None)
            case "account", Account() as closed:
                self.accounts[closed.id] = closed
            case "switches", Switches() as closed:
                self._put_switches(closed)
            case "broker", Broker() as known:
                self._put_broker(known)
                self._put_switches(self.switches_of(entry.broker))

    def _put_switches(self, switches: Switches) -> None:
        broker = switches.broker
        known = self.brokers.get(broker)
        if known is not None and known.moved_to is not None:
            switches = replace(switches.closed(), moved=True, public_rates=None)
        elif ("broker", broker, broker) in self.unreadable:
            switches = switches.closed()
        self.switches[broker] = switches

    def _put_broker(self, broker: Broker) -> None:
        self.brokers[broker.tag] = broker
        self.hosts = {host: tag for host, tag in self.hosts.items() if tag != broker.tag}
        self.hosts.update(dict.fromkeys(broker.hosts, broker.tag))
        if broker.moved_to is not None:
            self._put_switches(self.switches_of(broker.tag))
        elif self.switches_of(broker.tag).moved:  # It is here again. Its switches follow in the same answer.
            del self.switches[broker.tag]
