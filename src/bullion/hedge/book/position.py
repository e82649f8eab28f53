"""The position of a hedge book: what clients hold, what covers it, and what is left."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

import msgspec

from bullion.hedge.contract import Contract

from .events import BookEvent, ClientDeal, CoverEnds, CoverFill, CoverSent, OrderWaits, WaitEnds

_V = TypeVar("_V")


class WorkingCover(msgspec.Struct, frozen=True):
    """A cover that was recorded to be sent, and is not final."""

    cover_id: str
    contract: Contract
    left_e8: int
    """What is not filled yet. Above 0: a buy."""

    @property
    def left_mg(self) -> int:
        """Rounded away from zero, so that its fills never weigh more."""
        return self.contract.fine_mg_up(self.left_e8)


class Position(msgspec.Struct, frozen=True):
    """All weights are above 0 where the house has or receives metal."""

    client_mg: int = 0
    """The clients' deals that are open or closing."""
    cover_mg: int = 0
    """All fills."""
    held_e8: Mapping[str, int] = {}
    """The net quantity of fills, by the contract's code."""
    waiting: Mapping[str, int] = {}
    """The weights of the orders that the limit holds back, by their ids, oldest first."""
    working: Mapping[str, WorkingCover] = {}
    """The covers that are under way, by their ids."""

    @property
    def residual_mg(self) -> int:
        """What the house has at risk. At 0 it is flat."""
        return self.client_mg + self.cover_mg

    @property
    def waiting_mg(self) -> int:
        return sum(self.waiting.values())

    @property
    def working_mg(self) -> int:
        """What the covers under way would add if they were filled in full."""
        return sum(cover.left_mg for cover in self.working.values())

    @property
    def need_mg(self) -> int:
        """What is left to cover after all that is under way. The planner brings it towards zero."""
        return self.residual_mg + self.waiting_mg + self.working_mg


class ContradictoryFill(Exception):
    """An execution id came again with other contents."""


def fold_position(events: Iterable[BookEvent], start: Position | None = None) -> Position:
    """The position after these events. A repeated fill changes nothing. May raise ContradictoryFill."""
    position = start or Position()
    for event in distinct(events):
        position = position_after(position, event)
    return position


def distinct(events: Iterable[BookEvent]) -> Iterator[BookEvent]:
    """The events without fills that came before. May raise ContradictoryFill."""
    seen: dict[tuple[str, str], CoverFill] = {}
    for event in events:
        if isinstance(event, CoverFill):
            known = seen.get(event.key)
            if known is not None:
                if known.venue_values != event.venue_values:
                    raise ContradictoryFill(f"execution {event.execution_id} came twice with other contents")
                continue
            seen[event.key] = event
        yield event


def position_after(position: Position, event: BookEvent) -> Position:
    """The position after one event. The caller counts each execution id once: see `distinct`."""
    match event:
        case ClientDeal():
            return msgspec.structs.replace(position, client_mg=position.client_mg + event.change_mg)
        case OrderWaits():
            waiting = {**position.waiting, event.order_id: event.change_mg}
            return msgspec.structs.replace(position, waiting=waiting)
        case WaitEnds():
            return msgspec.structs.replace(position, waiting=_without(position.waiting, event.order_id))
        case CoverSent():
            cover = WorkingCover(event.cover_id, event.contract, event.quantity_e8)
            return msgspec.structs.replace(position, working={**position.working, event.cover_id: cover})
        case CoverEnds():
            return msgspec.structs.replace(position, working=_without(position.working, event.cover_id))
        case CoverFill():
            return _filled(position, event)
        case _:
            return position


def fill_change_mg(contract: Contract, held_e8: int, quantity_e8: int) -> int:
    """What a fill adds to the cover, if that much of the contract is held already.

    The weight of all fills of a contract is rounded, not that of each fill: so the fine weights of a hundred
    small fills add up to that of one large fill, and in any order.
    """
    return contract.fine_mg(held_e8 + quantity_e8) - contract.fine_mg(held_e8)


def _filled(position: Position, fill: CoverFill) -> Position:
    code = fill.contract.code
    held_e8 = position.held_e8.get(code, 0)
    working = position.working
    cover = working.get(fill.cover_id)
    if cover is not None:
        left_e8 = _reduced(cover.left_e8, fill.quantity_e8)
        working = {**working, fill.cover_id: msgspec.structs.replace(cover, left_e8=left_e8)}
    return msgspec.structs.replace(
        position,
        cover_mg=position.cover_mg + fill_change_mg(fill.contract, held_e8, fill.quantity_e8),
        held_e8={**position.held_e8, code: held_e8 + fill.quantity_e8},
        working=working,
    )


def _reduced(left_e8: int, filled_e8: int) -> int:
    """The rest of a cover. A fill beyond it, or on the other side, leaves nothing or all: both are breaks."""
    if left_e8 >= 0:
        return max(0, left_e8 - max(0, filled_e8))
    return min(0, left_e8 - min(0, filled_e8))


def _without(values: Mapping[str, _V], key: str) -> dict[str, _V]:
    return {each: value for each, value in values.items() if each != key}
