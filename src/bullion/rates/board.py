"""The board: the newest tick of every instrument, in this node's memory."""

from collections.abc import Iterable, Iterator

from bullion.unreadable import Unreadable, UnreadableRows

from .tick import Tick

MARKET = ""
"""The owner of a shared feed's ticks: no broker has an empty tag."""


class Board:
    """Read by every order, changed only by `apply`. A broker sees its own ticks and the market's."""

    def __init__(self, unreadable: UnreadableRows | None = None) -> None:
        self.serial = 0
        """Incremented whenever a price may have changed: prices of the same serial are still valid."""
        self.version: int | None = None
        """The store's version of the rates that were applied last."""
        self.unreadable = UnreadableRows() if unreadable is None else unreadable
        """Ticks that cannot be read."""
        self._ticks: dict[str, dict[str, Tick]] = {MARKET: {}}

    @property
    def ready(self) -> bool:
        """Whether a first set was applied. It may be empty: then there are no rates."""
        return self.version is not None

    def apply(
        self,
        ticks: Iterable[tuple[str, Tick]],
        version: int,
        unreadable: Iterable[Unreadable] = (),
        *,
        whole: bool = False,
    ) -> None:
        """Apply ticks, each with its broker's tag or `MARKET`, as the store has them at this version.

        `whole`: these are all, and those of before are gone.
        """
        changed = not self.ready
        if whole or (self.version is not None and version < self.version):
            # The store was restored from an older copy: later ticks are gone.
            self._ticks = {MARKET: {}}
            self.unreadable.clear()
            changed = True
        for entry in unreadable:
            self.unreadable.add(entry)
            self._ticks.get(entry.broker, {}).pop(entry.subject, None)
            changed = True
        for broker, tick in ticks:
            if self.unreadable:
                self.unreadable.discard("rate", broker, tick.instrument)
            held = self._ticks.setdefault(broker, {})
            before = held.get(tick.instrument)
            if tick != before:
                held[tick.instrument] = tick
                changed = True
        self.version = version
        if changed:
            self.serial += 1

    def tick(self, broker: str, instrument: str) -> Tick | None:
        """The newer of the broker's own tick and the market's; the broker's own if both are equally new.

        A pinned tick of the broker counts as new until its pin ends.

        None if the broker's own cannot be read: the market's tick is not what its desk set.
        """
        if self.unreadable and ("rate", broker, instrument) in self.unreadable:
            return None
        market = self._ticks[MARKET].get(instrument)
        of_broker = self._ticks.get(broker)
        own = None if of_broker is None else of_broker.get(instrument)
        if own is None or (market is not None and market.at_us > own.holds_until_us):
            return market
        return own

    def held(self) -> Iterator[tuple[str, Tick]]:
        """Every tick, with its broker's tag or `MARKET`."""
        return ((broker, tick) for broker, ticks in self._ticks.items() for tick in ticks.values())

    def ticks(self, broker: str) -> list[Tick]:
        """What `tick` returns for every instrument, in order."""
        instruments = self._ticks[MARKET].keys() | self._ticks.get(broker, {}).keys()
        found = (self.tick(broker, instrument) for instrument in sorted(instruments))
        return [tick for tick in found if tick is not None]
