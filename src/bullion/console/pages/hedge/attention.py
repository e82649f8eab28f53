"""What needs attention: everything of the market that waits for a person, the most urgent first."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit, partly_covered
from bullion.console.pages.breaks import order_link
from bullion.console.paths import OVERVIEW
from bullion.console.shared_read import Reading
from bullion.console.watch import Listed
from bullion.console.widgets.components import BAD, WARN, card, empty, freshness, mark, state
from bullion.console.widgets.fine_weight import fine, milligrams, position
from bullion.console.widgets.formatting import age, count
from bullion.desk.actions import feeds as feed_states
from bullion.desk.desk import View
from bullion.hedge.cover import SUGGESTED

from . import cover_text, feeds, lines
from .cover_actions import cover_buttons
from .hedge_data import books_of, covers_in, feeds_of, lines_of, open_covers_of

SOON_PERCENT = 80
_PERCENT = 100
_SHOWN_OF_EACH = 5


@dataclass(frozen=True, slots=True)
class Item:
    key: str
    """Identifies it when the page is refreshed."""
    kind: str
    what: Child
    why: Child
    acts: Child = None


async def attention_card(visit: Visit) -> Html:
    books, covers, found_feeds, found_lines, queue, breaks = await asyncio.gather(
        books_of(visit),
        open_covers_of(visit),
        feeds_of(visit),
        lines_of(visit),
        visit.watch.queue.get(visit.actor),
        visit.watch.breaks.get(visit.actor),
    )
    readings: Sequence[Reading[Any]] = (books, covers, found_feeds, found_lines, queue, breaks)
    unread = [each for each in readings if each.value is None]
    items: list[Item] = [
        *_of_breaks(breaks),
        *_of_orders(visit, queue),
        *_of_lines(found_lines.value or []),
        *_of_feeds(visit, found_feeds.value or []),
        *_of_books(books.value or []),
        *_of_covers(visit, covers),
    ]
    items.sort(key=lambda each: each.kind != BAD)
    title, aside = "Needs attention", [freshness(each) for each in readings]
    if unread:
        shown = empty(unread[0].error or "Loading.", "It is tried again every second.")
        return card(title, shown, [_list(items)] if items else None, aside=aside, name="attention")
    if not items:
        text = "Breaks, orders that wait, held quotes, limits nearly used and covers to send stand here."
        return card(title, empty("Nothing needs attention.", text), aside=aside, name="attention")
    urgent = sum(each.kind == BAD for each in items)
    told = state(BAD if urgent else WARN, f"{len(items)} to look at")
    return card(title, _list(items), aside=[*aside, told], name="attention")


def _list(items: Sequence[Item]) -> Html:
    return el("ul", [_row(each) for each in items], class_="attention")


def _row(item: Item) -> Html:
    return el(
        "li",
        mark(item.kind),
        el("div", el("div", item.what, class_="what"), el("div", item.why, class_="said")),
        el("div", item.acts, class_="acts") if item.acts else None,
        class_=f"is-{item.kind}",
        data_key=item.key,
    )


def _of_breaks(reading: Reading[Listed]) -> Iterator[Item]:
    rows, total = reading.value or ([], 0)
    if not total:
        return
    first = rows[0]["words"] or "The venue's answer contradicts our books."
    link = el("a", _number(total, "break"), href=f"/{OVERVIEW}#breaks")
    yield Item("breaks", BAD, link, first)


def _of_orders(visit: Visit, reading: Reading[Listed]) -> Iterator[Item]:
    rows, _ = reading.value or ([], 0)
    partly = [each for each in rows if partly_covered(each)]
    for each in partly[:_SHOWN_OF_EACH]:
        why = "Partly covered: decide about the rest on the page of the order."
        yield Item(f"partly {each['order_id']}", BAD, order_link(each), why)
    late_s = visit.settings.late_s
    late = [each for each in rows if each["age_s"] >= late_s and each not in partly]
    if late:
        link = el("a", _number(len(late), "order waits", "orders wait"), href=f"/{OVERVIEW}#pending")
        oldest = max(each["age_s"] for each in late)
        yield Item(
            "late", BAD, [link, f" longer than {age(late_s)}"], f"The oldest has waited {age(oldest)}."
        )


def _of_lines(found: Sequence[View]) -> Iterator[Item]:
    for line in found:
        name = line["name"]
        what = ["Line ", el("b", name), " ", lines.line_state(line)]
        if lines.is_down(line):
            yield Item(f"line {name}", BAD, what, line["message"] or "Live orders over it are refused.")
        elif line["state"] == lines.DISCONNECTED:
            yield Item(f"line {name}", WARN, what, "Live orders over it are refused until it is connected.")
        if line["unknown_orders"]:
            unknown = _number(line["unknown_orders"], "order is unknown", "orders are unknown")
            yield Item(
                f"unknown {name}", BAD, f"{unknown} on line {name}", "The venue is asked for each of them."
            )


def _of_feeds(visit: Visit, rows: Sequence[View]) -> Iterator[Item]:
    for each in rows:
        about = f"{each['instrument']} at {each['source']}"
        if each["held"] is not None:
            yield Item(
                f"held {about}",
                BAD,
                [el("b", about), f" is held at {feeds.prices(each['held'])}"],
                feeds.far_from_last(each),
                feeds.release_button(visit, each),
            )
        elif each["state"] == feed_states.AWAY:
            yield Item(
                f"away {about}", WARN, [el("b", about), " is away"], each["error"] or "It is not connected."
            )
    for instrument, other in {
        each["instrument"]: (each["source"], each["differs_from"])
        for each in rows
        if each["differs_from"] is not None and each["chosen"]
    }.items():
        text = f"{other[0]} and {other[1]} differ: no rate is published. Prefer the right one."
        yield Item(f"differ {instrument}", BAD, el("b", instrument), text)


def _of_books(books: Sequence[View]) -> Iterator[Item]:
    for book in books:
        metal, name = book["metal"], book["metal"].capitalize()
        used = _used_percent(book)
        if used >= SOON_PERCENT:
            kind = BAD if used >= _PERCENT else WARN
            what = [el("b", name), f" has used {book['limit_used_percent']} % of its limit"]
            why = f"{position(book['residual'], metal)}, limit {fine(book['limit'], metal)}. Cover it."
            yield Item(f"limit {metal}", kind, what, why)
        for number, warning in enumerate(book["warnings"]):
            yield Item(f"warning {metal} {number}", WARN, [el("b", name), ": a warning of its book"], warning)
        if book["waiting_orders"]:
            what = [
                _number(book["waiting_orders"], "order waits", "orders wait"),
                f" for room in the book of {metal}",
            ]
            why = f"{position(book['waiting'], metal)}. They are confirmed when a cover makes room."
            yield Item(f"room {metal}", BAD, what, why)


def _used_percent(book: View) -> int:
    limit_mg = milligrams(book["limit"])
    return abs(milligrams(book["residual"])) * _PERCENT // limit_mg if limit_mg else 0


def _of_covers(visit: Visit, reading: Reading[Listed]) -> Iterator[Item]:
    suggested = covers_in(reading, SUGGESTED)
    for each in suggested[:_SHOWN_OF_EACH]:
        why = f"Suggested {cover_text.by_whom(each)}. {cover_text.fine_text(each)} fine."
        yield Item(
            f"cover {each['id']}",
            WARN,
            cover_text.order_text(each),
            why,
            cover_buttons(visit, each, "attention"),
        )
    more = len(suggested) - _SHOWN_OF_EACH
    if more > 0:
        yield Item("covers", WARN, f"{_number(more, 'more cover')} to send or drop", "See the tab Covers.")


def _number(number: int, one: str, many: str | None = None) -> str:
    return f"{count(number)} {one if number == 1 else many or one + 's'}"
