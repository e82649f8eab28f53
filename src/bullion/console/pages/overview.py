"""The overview: rates, what clients hold and what covers it, what waits for the venue, what is refused."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from bullion.console.html import Child, Html, el
from bullion.console.page import Page, Visit
from bullion.console.pages.accounts.addresses import account_path
from bullion.console.pages.breaks import PAGE_NAME, SETTLE, breaks_card, order_link
from bullion.console.pages.market.market_data import unreadable_of
from bullion.console.shared_read import Reading
from bullion.console.watch import COURSE_S, MINUTES, Listed
from bullion.console.widgets.charts import bar_chart, line_chart
from bullion.console.widgets.components import (
    BAD,
    GOOD,
    OFF,
    WARN,
    Column,
    Line,
    card,
    empty,
    state,
    table,
)
from bullion.console.widgets.formatting import grouped, rupees, signed_weight, times_words, weight
from bullion.console.widgets.times import age, clock
from bullion.console.widgets.unreadable import unreadable_card
from bullion.desk.desk import View
from bullion.environment import Environment
from bullion.orders.status import Status
from bullion.refusals.refusal import RefusalError

_NOTHING = "–"
_STATES = {
    "live": (GOOD, "live"),
    "stale": (BAD, "stale"),
    "no_rate": (BAD, "no rate"),
    "frozen": (WARN, "frozen"),
    "halted": (WARN, "halted"),
    "closed": (OFF, "closed"),
    "off": (OFF, "not traded"),
    "unreadable": (BAD, "cannot be read"),
}
_TAKEN = frozenset(Status)
_ASIDE = frozenset({"replayed", "scenario"})
"""Neither taken nor refused: told again, or played because a client asked for it."""
_OUTCOMES_SHOWN = 12
_MINUTE = timedelta(minutes=1)


async def _render(visit: Visit) -> Html:
    watch, actor = visit.watch, visit.actor
    quotes, exposure, queue, breaks, activity = await asyncio.gather(
        watch.quotes.get(actor),
        watch.exposure.get(actor),
        watch.queue.get(actor),
        watch.breaks.get(actor),
        watch.activity.get(actor),
    )
    return el(
        "div",
        el("h1", "Overview", class_="unseen"),
        el(
            "div",
            unreadable_card(await _unreadable(visit)),
            breaks_card(visit, breaks),
            _rates(visit, quotes),
            _pending(visit, queue),
            class_="wide",
        ),
        el("div", _exposure(exposure), _activity(visit, activity), class_="narrow"),
        class_="overview",
    )


async def _unreadable(visit: Visit) -> list[tuple[str, View]]:
    """Of the market. Accounts and keys are told where they are listed: there may be very many."""
    with contextlib.suppress(RefusalError):  # The store cannot be reached: the banner says so.
        return await unreadable_of(visit)
    return []


def _freshness(reading: Reading[Listed] | Reading[list[View]]) -> Child:
    """How old a card is, when it is older than it should be."""
    if reading.trouble is None or reading.read_at is None:
        return None
    return state(WARN, f"{age(reading.age_s)} old", reading.trouble)


def _unread(reading: Reading[Listed] | Reading[list[View]]) -> Html:
    """In place of what could not be read at all."""
    return empty(reading.trouble or "Not read yet.", "It is tried again every second.")


def _rates(visit: Visit, reading: Reading[Listed]) -> Html:
    if reading.value is None:
        return card("Rates", _unread(reading), name="rates")
    quotes, total = reading.value
    if not quotes:
        shown = empty(
            "There is no symbol yet.",
            [
                "A symbol says what clients trade, in which sizes and at which price. Make one with ",
                el("code", "bullion desk symbols put"),
                ".",
            ],
        )
        return card("Rates", shown, name="rates")
    columns = (
        Column("Symbol"),
        Column("Bid", number=True),
        Column("Ask", number=True),
        Column("Spread", number=True),
        Column(f"Last {COURSE_S // 60} minutes"),
        Column("Age", number=True),
        Column("State"),
    )
    lines = [Line(each["symbol_code"], _rate_cells(visit, each)) for each in quotes]
    more = None if total == len(quotes) else f"the first {len(quotes)} of {total}"
    aside = [_freshness(reading), el("span", more or "before premiums, in rupees", class_="hint")]
    return card("Rates", table(columns, lines, name="rates-table"), aside=aside, name="rates")


def _rate_cells(visit: Visit, quote: View) -> Sequence[Child]:
    kind, words = _STATES[quote["state"]]
    code = quote["symbol_code"]
    course = list(visit.watch.courses.get(code, ()))
    about = None
    if quote["unit"] is not None:
        about = el("small", f"{quote['metal']}, per {weight(quote['quoted_weight'], quote['unit'])}")
    return (
        [el("b", code), about],
        _price(quote, "bid"),
        _price(quote, "ask"),
        _amount(quote["spread"]),
        line_chart(
            course,
            until=int(visit.now.timestamp()),
            span=COURSE_S,
            width=120,
            height=30,
            label=f"{code} over the last minutes",
        ),
        _NOTHING if quote["age_s"] is None else age(quote["age_s"]),
        state(kind, words, quote["words"]),
    )


def _price(quote: View, side: str) -> Child:
    if quote[side] is None:
        return _NOTHING
    return el("span", grouped(quote[side]), class_="price" if quote["state"] == "live" else "price old")


def _amount(plain: str | None) -> str:
    """Without the sign of the rupee: the heading says it, and digits stand below digits."""
    return _NOTHING if plain is None else grouped(plain)


def _exposure(reading: Reading[list[View]]) -> Html:
    title = "Clients' position"
    if reading.value is None:
        return card(title, _unread(reading), name="exposure")
    columns = (
        Column("Metal"),
        Column("Net", number=True),
        Column("Hedged", number=True),
        Column("Unhedged", number=True),
    )
    lines = [Line(each["metal"], _exposure_cells(each)) for each in reading.value]
    aside = _freshness(reading) or el("span", "production; + is bought of us", class_="hint")
    return card(title, table(columns, lines, name="exposure-table"), aside=aside, name="exposure")


def _exposure_cells(each: View) -> Sequence[Child]:
    open_ = each["unhedged"].strip("-0.") != ""
    why = [
        f"{each['waiting']} waiting" if each["waiting"] else None,
        f"{each['breaks']} in a break" if each["breaks"] else None,
    ]
    reasons = ", ".join(word for word in why if word)
    return (
        [el("b", each["metal"].capitalize()), el("small", reasons) if reasons else None],
        el("span", signed_weight(each["net"], each["unit"]), class_="price"),
        el("span", signed_weight(each["hedged"], each["unit"]), class_="price"),
        el("span", signed_weight(each["unhedged"], each["unit"]), class_="price open" if open_ else "price"),
    )


def _pending(visit: Visit, reading: Reading[Listed]) -> Html:
    title = "Waiting for the hedge"
    if reading.value is None:
        return card(title, _unread(reading), name="pending")
    waiting, total = reading.value
    if not waiting:
        shown = empty(
            "Nothing waits.",
            "A production order stands here from its booking until the venue, or the desk for it, answers. "
            f"One that waits longer than {age(visit.settings.late_s)} turns red.",
        )
        return card(title, shown, aside=_freshness(reading), name="pending")
    columns = (
        Column("Age", number=True),
        Column("Account"),
        Column("Order"),
        Column("Price", number=True),
        Column("Total", number=True),
        Column("The venue said"),
    )
    lines = [
        Line(each["order_id"], _pending_cells(visit, each), "late" if _late(visit, each) else None)
        for each in waiting
    ]
    late = sum(_late(visit, each) for each in waiting)
    count = f"{total} waiting" if total == len(waiting) else f"the oldest {len(waiting)} of {total}"
    aside = [
        _freshness(reading),
        state(BAD, f"{late} over {age(visit.settings.late_s)}") if late else None,
        el("span", count, class_="hint"),
    ]
    return card(title, table(columns, lines, name="pending-table"), aside=aside, name="pending")


def _late(visit: Visit, each: View) -> bool:
    return bool(each["age_s"] >= visit.settings.late_s)


def _pending_cells(visit: Visit, each: View) -> Sequence[Child]:
    gone = None if each["status"] == Status.PENDING else el("small", f"{each['status']} by the desk")
    return (
        el(
            "b",
            age(each["age_s"]),
            title=f"since {clock(datetime.fromisoformat(each['created_at']), visit.zone)}",
        ),
        el("a", each["login_id"], href=account_path(each["login_id"])),
        [order_link(each), gone],
        rupees(each["price"]),
        rupees(each["total"]),
        [
            each["words"] or _NOTHING,
            el("small", f"asked {times_words(each['tries'])}") if each["tries"] else None,
        ],
    )


def _activity(visit: Visit, reading: Reading[list[View]]) -> Html:
    title = "Orders a minute"
    if reading.value is None:
        return card(title, _unread(reading), name="activity")
    if not reading.value:
        shown = empty(
            f"No order came in the last {MINUTES} minutes.",
            "Orders that were taken and orders that were refused are counted here, each refusal by its code.",
        )
        return card(title, shown, aside=_freshness(reading), name="activity")
    this_minute = visit.now.replace(second=0, microsecond=0)
    charts = [_chart(visit, reading.value, each, this_minute) for each in _environments(reading.value)]
    aside = [
        _freshness(reading),
        el(
            "span",
            el("i", class_="key taken"),
            "taken",
            el("i", class_="key refused"),
            "refused",
            class_="hint",
        ),
    ]
    return card(title, *charts, _outcomes(reading.value, this_minute), aside=aside, name="activity")


def _environments(counts: list[View]) -> list[Environment]:
    there = {each["environment"] for each in counts}
    return [each for each in (Environment.PRODUCTION, Environment.TEST) if each in there]


def _chart(visit: Visit, counts: list[View], environment: Environment, this_minute: datetime) -> Html:
    by_minute: dict[datetime, Counter[str]] = {}
    for each in counts:
        if each["environment"] == environment:
            kind = "taken" if each["outcome"] in _TAKEN else "refused"
            if each["outcome"] not in _ASIDE:
                minute = datetime.fromisoformat(each["minute"]).astimezone(UTC)
                by_minute.setdefault(minute, Counter())[kind] += each["count"]
    columns = []
    for back in range(MINUTES - 1, -1, -1):
        minute = this_minute - back * _MINUTE
        found = by_minute.get(minute, Counter())
        name = f"{clock(minute, visit.zone)}: {found['taken']} taken, {found['refused']} refused"
        columns.append((name, [("taken", found["taken"]), ("refused", found["refused"])]))
    most = max((found.total() for found in by_minute.values()), default=0)
    label = f"Orders a minute in {environment}, at most {most}"
    return el(
        "figure",
        el("figcaption", environment.value, el("small", f"at most {most} a minute")),
        bar_chart(columns, width=450, height=60, label=label),
    )


def _outcomes(counts: list[View], this_minute: datetime) -> Html:
    """Taken orders first, then refusals; production before test, and what is frequent before what is not."""
    sums: dict[tuple[str, str], list[int]] = {}
    for each in counts:
        found = sums.setdefault((each["environment"], _named(each["outcome"])), [0, 0, 0])
        minute = datetime.fromisoformat(each["minute"])
        found[0] += each["count"] if minute == this_minute else 0
        found[1] += each["count"] if minute == this_minute - _MINUTE else 0
        found[2] += each["count"]
    columns = (
        Column("Outcome"),
        Column("Where"),
        Column("This min", number=True),
        Column("Last min", number=True),
        Column(f"{MINUTES} min", number=True),
    )
    ordered = sorted(
        sums.items(), key=lambda item: (item[0][1] != "taken", item[0][0] != "production", -item[1][2])
    )
    lines = [
        Line(
            f"{environment} {outcome}",
            [
                el("b", outcome)
                if outcome == "taken"
                else outcome
                if outcome in _ASIDE
                else el("code", outcome),
                environment,
                *(grouped(str(number)) for number in numbers),
            ],
        )
        for (environment, outcome), numbers in ordered[:_OUTCOMES_SHOWN]
    ]
    return table(columns, lines, name="outcomes-table")


def _named(outcome: str) -> str:
    return "taken" if outcome in _TAKEN else outcome


PAGE = Page(PAGE_NAME, "Overview", _render, live_s=1, actions=(SETTLE,))
