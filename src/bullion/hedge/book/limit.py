"""Which of the orders that wait for a book may be confirmed under its limit."""

from collections.abc import Sequence


def confirmable(
    residual_mg: int, limit_mg: int, changes_mg: Sequence[int], free: Sequence[bool] | None = None
) -> list[tuple[int, ...]]:
    """The places of the orders that may be confirmed now, in groups. `changes_mg` are theirs, oldest first.

    An order that does not enlarge the residual is confirmed at once. One that enlarges it must stay within
    the limit, and does not pass an older order in the same direction. Each confirmation may make room for
    others. If none fits alone, as many of the oldest as fit together do, such as a purchase of 5 kg and a
    sale of 4 kg: their covers would cancel out, so nothing else would ever make room for them. A group must
    be confirmed in one transaction.

    An order that is not `free` cannot be confirmed now, and keeps its place.
    """
    may = [True] * len(changes_mg) if free is None else free
    left = list(range(len(changes_mg)))
    groups: list[tuple[int, ...]] = []
    while found := _alone(residual_mg, limit_mg, changes_mg, may, left) or _together(
        residual_mg, limit_mg, changes_mg, may, left
    ):
        taken = {place for group in found for place in group}
        residual_mg += sum(changes_mg[place] for place in taken)
        left = [place for place in left if place not in taken]
        groups += found
    return groups


def _alone(
    residual_mg: int, limit_mg: int, changes_mg: Sequence[int], free: Sequence[bool], left: Sequence[int]
) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    waiting: set[bool] = set()  # The directions in which an older order waits.
    for place in left:
        change_mg = changes_mg[place]
        after_mg = abs(residual_mg + change_mg)
        within = after_mg <= limit_mg and (change_mg > 0) not in waiting
        if free[place] and (after_mg <= abs(residual_mg) or within):
            found.append((place,))
            residual_mg += change_mg
        else:
            waiting.add(change_mg > 0)
    return found


def _together(
    residual_mg: int, limit_mg: int, changes_mg: Sequence[int], free: Sequence[bool], left: Sequence[int]
) -> list[tuple[int, ...]]:
    room_mg = max(limit_mg, abs(residual_mg))
    fitting = 0
    for number, place in enumerate(left, 1):
        if not free[place]:
            break
        residual_mg += changes_mg[place]
        if abs(residual_mg) <= room_mg:
            fitting = number
    return [tuple(left[:fitting])] if fitting else []
