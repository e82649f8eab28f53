"""Everything that a broker's prices are made of, at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass

from bullion.accounts.group import Group
from bullion.accounts.switches import Switches
from bullion.metals.symbol import Symbol
from bullion.rates.duty import DutyTable
from bullion.records.market import BoardTick
from bullion.store.records import Records
from bullion.unreadable import Unreadable

from .unreadable import read_or_unreadable


@dataclass(frozen=True, slots=True)
class PriceSnapshot:
    """Without rows that cannot be read: they price nothing."""

    symbols: Mapping[str, Symbol]
    groups: Mapping[str, Group]
    ticks: Mapping[str, BoardTick]
    duties: Mapping[str, DutyTable]
    switches: Switches
    now_us: int


async def read_snapshot(records: Records, broker: str, earlier: PriceSnapshot | None = None) -> PriceSnapshot:
    """The state that this transaction sees, with its own writes.

    A snapshot after an `earlier` one of the same transaction has its time and the ticks of its feed, so that
    the two differ by what the desk did and by nothing else. Where it ended a pin, that shows the feed's tick.
    """
    symbols = await records.all_symbols(broker)
    groups = await records.all_groups(broker)
    ticks = await records.ticks(broker)
    duties = await records.duties(broker)
    switches = await read_or_unreadable(records.switches(broker))
    seen = {
        each.tick.instrument: each
        for each in ticks
        if not isinstance(each, Unreadable)
        and (earlier is None or each.own or _was_pinned(earlier, each.tick.instrument))
    }
    return PriceSnapshot(
        symbols={each.code: each for each in symbols if not isinstance(each, Unreadable)},
        groups={each.code: each for each in groups if not isinstance(each, Unreadable)},
        ticks=seen if earlier is None else {**earlier.ticks, **seen},
        duties={each.name: each for each in duties if not isinstance(each, Unreadable)},
        switches=Switches(broker) if switches is None or isinstance(switches, Unreadable) else switches,
        now_us=await records.now_us() if earlier is None else earlier.now_us,
    )


def _was_pinned(earlier: PriceSnapshot, instrument: str) -> bool:
    held = earlier.ticks.get(instrument)
    return held is not None and held.own and held.tick.holds_until_us > earlier.now_us
