"""The board: the newest tick of every instrument, in this node's memory."""

from collections.abc import Iterable

from bullion.unreadable import Unreadable, UnreadableRows

from .tick import Tick

MARKET = ""
"""The owner of a shared feed's ticks: no broker has an empty tag."""


class Board:
    """Read by every order, changed only by `take`. A broker sees its own ticks and the market's."""

    def __init__(self, unreadable: UnreadableRows | None = None) -> None:
        self.serial = 0
        """Moves whenever a price may have changed: what was computed at the same serial is still valid."""
        self.version: int | None = None
        """The store's version of the rates, as last taken."""
        self.unreadable = UnreadableRows() if unreadable is None else unreadable
        """Ticks that cannot be read."""
        self._ticks: dict[str, dict[str, Tick]] = {MARKET: {}}

    @property
    def ready(self) -> bool:
        """Whether a first set was taken. It may be empty: then there are no rates."""
        return self.version is not None

    def take(
        self, ticks: Iterable[tuple[str, Tick]], version: int, unreadable: Iterable[Unreadable] = ()
    ) -> None:
        """Each tick with its broker's tag, or `MARKET`. One that is older than the one held is ignored."""
        changed = not self.ready
        if self.version is not None and version < self.version:
            # The store was restored to an older copy: later ticks are gone.
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
            if before is None or (tick.at_us >= before.at_us and tick != before):
                held[tick.instrument] = tick
                changed = True
        self.version = version
        if changed:
            self.serial += 1

    def tick(self, broker: str, instrument: str) -> Tick | None:
        """The newer of the broker's own and the market's; of two as new as each other, the broker's own.

        None if the broker's own cannot be read: the market's is not what its desk wanted.
        """
        if self.unreadable and ("rate", broker, instrument) in self.unreadable:
            return None
        market = self._ticks[MARKET].get(instrument)
        of_broker = self._ticks.get(broker)
        own = None if of_broker is None else of_broker.get(instrument)
        if own is None or (market is not None and market.at_us > own.at_us):
            return market
        return own

    def ticks(self, broker: str) -> list[Tick]:
        """What `tick` returns for every instrument, in order."""
        instruments = self._ticks[MARKET].keys() | self._ticks.get(broker, {}).keys()
        found = (self.tick(broker, instrument) for instrument in sorted(instruments))
        return [tick for tick in found if tick is not None]
