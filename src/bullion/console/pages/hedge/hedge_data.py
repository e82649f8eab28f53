"""What the pages about the hedge read, each once for all that are open."""

from collections.abc import Mapping, Sequence

from bullion.console.page import Visit
from bullion.console.shared_read import EVERY_S, SLOWER_S, Reading
from bullion.console.watch import Listed
from bullion.console.widgets.fine_weight import milligrams
from bullion.desk.actions import covers, currency, feeds, hedge_book, lines
from bullion.desk.desk import Desk, View
from bullion.hedge.cover import OPEN
from bullion.records.page import Page
from bullion.records.token import Actor

COVERS_SHOWN = 100
_HEDGE = "hedge"


async def books_of(visit: Visit) -> Reading[list[View]]:
    return await visit.read((_HEDGE, "book"), hedge_book.get_book, EVERY_S)


async def newest_covers_of(visit: Visit) -> Reading[Listed]:
    async def read(desk: Desk, actor: Actor) -> Listed:
        return await covers.list_covers(desk, actor, page=Page(COVERS_SHOWN, 0))

    return await visit.read((_HEDGE, "covers"), read, EVERY_S)


async def open_covers_of(visit: Visit) -> Reading[Listed]:
    """Those that are suggested or sent, however many newer ones there are."""

    async def read(desk: Desk, actor: Actor) -> Listed:
        return await covers.list_covers(desk, actor, OPEN, Page(COVERS_SHOWN, 0))

    return await visit.read((_HEDGE, "open covers"), read, EVERY_S)


async def contracts_of(visit: Visit) -> Reading[list[View]]:
    return await visit.read((_HEDGE, "contracts"), covers.list_contracts, SLOWER_S)


async def currency_deals_of(visit: Visit) -> Reading[Listed]:
    async def read(desk: Desk, actor: Actor) -> Listed:
        return await currency.list_currency_deals(desk, actor, Page(COVERS_SHOWN, 0))

    return await visit.read((_HEDGE, "currency"), read, SLOWER_S)


async def lines_of(visit: Visit) -> Reading[list[View]]:
    return await visit.read((_HEDGE, "lines"), lines.list_lines, EVERY_S)


async def feeds_of(visit: Visit) -> Reading[list[View]]:
    return await visit.read((_HEDGE, "feeds"), feeds.list_feeds, EVERY_S)


def covers_in(reading: Reading[Listed], *states: str) -> list[View]:
    """Those in one of these states; all of them without any."""
    found = (reading.value or ([], 0))[0]
    return [each for each in found if not states or each["state"] in states]


def signed_mg(cover: View) -> int:
    """What is still to come of a cover, in fine milligrams."""
    dealt_mg = sum(abs(milligrams(each["fine"])) for each in cover["deals"])
    return (milligrams(cover["fine"]) - dealt_mg) * (1 if cover["side"] == "buy" else -1)


def after_mg(book: View, open_covers: Sequence[View]) -> int | None:
    """What would be left of a book after the covers that are suggested or under way. None: there are none."""
    of_metal = [each for each in open_covers if each["metal"] == book["metal"]]
    return milligrams(book["residual"]) + sum(map(signed_mg, of_metal)) if of_metal else None


def by_metal(books: Sequence[View]) -> Mapping[str, View]:
    return {each["metal"]: each for each in books}
