"""The overview: rates, exposure, orders that wait for the venue, and orders per minute."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from bullion.console.html import Child, Html, el
from bullion.console.page import Page, Visit
from bullion.console.pages.breaks import SETTLE, breaks_card, order_link
from bullion.console.pages.market.market_data import unreadable_rows
from bullion.console.pages.market.symbol_text import price, price_state
from bullion.console.paths import OVERVIEW, account_path
from bullion.console.shared_read import Reading
from bullion.console.watch import HISTORY_S, MINUTES, Listed
from bullion.console.widgets.charts import bar_chart, line_chart
from bullion.console.widgets.components import (
    BAD,
    NOTHING,
    Column,
    card,
    empty,
    freshness,
    hint,
    not_read,
    small,
    state,
    table,
    table_card,
    unreadable_card,
)
from bullion.console.widgets.formatting import (
    age,
    clock,
    count,
    grouped,
    is_zero,
    rupees,
    signed_weight,
    times_text,
    weight,
)
from bullion.desk.desk import View
from bullion.environment import Environment
from bullion.orders.status import Status
from bullion.refusals.refusal import RefusalError

_ACCEPTED = frozenset(Status)
_NOT_COUNTED = frozenset({"replayed", "scenario"})
"""Neither accepted nor refused: an answer that was repeated, or a scenario that a client asked for."""
_OUTCOMES_SHOWN = 12
_MINUTE = timedelta(minutes=1)
_PENDING_TEXT = "A production order is listed here from its booking until the venue or the desk answers."


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
            unreadable_card(visit, await _unreadable(visit)),
            breaks_card(visit, breaks),
            _rates(visit, quotes),
            _pending(visit, queue),
            class_="wide",
        ),
        el("div", _exposure(visit, exposure), _activity(visit, activity), class_="narrow"),
        class_="overview",
    )


async def _unreadable(visit: Visit) -> list[tuple[str, View]]:
    """Of the market. Accounts and keys are shown where they are listed: there may be very many."""
    with contextlib.suppress(RefusalError):  # The store cannot be reached: the banner says so.
        return await unreadable_rows(visit)
    return []


def _rates(visit: Visit, reading: Reading[Listed]) -> Html:
    quotes, total = reading.value or ([], 0)
    more = "before premiums, in rupees" if total == len(quotes) else f"the first {len(quotes)} of {total}"
    next_step = [
        "A symbol defines what clients trade and at which price. Create one under Market, or with ",
        el("code", "bullion desk symbols put"),
        ".",
    ]
    return table_card(
        visit,
        "Rates",
        "rates",
        _RATE_COLUMNS,
        quotes,
        key="symbol_code",
        nothing=("There are no symbols yet.", next_step),
        aside=hint(more) if quotes else None,
        reading=reading,
    )


def _symbol(_visit: Visit, quote: View) -> Child:
    if quote["unit"] is None:
        return el("b", quote["symbol_code"])
    about = f"{quote['metal']}, per {weight(quote['quoted_weight'], quote['unit'])}"
    return [el("b", quote["symbol_code"]), small(about)]


def _history(visit: Visit, quote: View) -> Html:
    code = quote["symbol_code"]
    return line_chart(
        list(visit.watch.price_history.get(code, ())),
        until=int(visit.now.timestamp()),
        span=HISTORY_S,
        width=120,
        height=30,
        label=f"{code} over the last hour",
    )


_RATE_COLUMNS = (
    Column("Symbol", _symbol),
    Column("Bid", lambda _, each: price(each, "bid"), number=True),
    Column("Ask", lambda _, each: price(each, "ask"), number=True),
    Column(
        "Spread", lambda _, each: NOTHING if each["spread"] is None else grouped(each["spread"]), number=True
    ),
    Column("Last hour", _history),
    Column("Age", lambda _, each: NOTHING if each["age_s"] is None else age(each["age_s"]), number=True),
    Column("State", lambda _, each: price_state(each)),
)


def _exposure(visit: Visit, reading: Reading[list[View]]) -> Html:
    return table_card(
        visit,
        "Clients' position",
        "exposure",
        _EXPOSURE_COLUMNS,
        reading.value or [],
        key="metal",
        nothing=("There are no metals.", None),
        aside=None if reading.error else hint("production; + = client long"),
        reading=reading,
    )


def _metal(_visit: Visit, each: View) -> Child:
    reasons = [
        f"{each['waiting']} waiting" if each["waiting"] else "",
        f"{each['breaks']} in a break" if each["breaks"] else "",
    ]
    return [el("b", each["metal"].capitalize()), small(", ".join(filter(None, reasons)))]


def _net(name: str) -> Callable[[Visit, View], Child]:
    def cell(_visit: Visit, each: View) -> Child:
        alarming = name == "unhedged" and not is_zero(each[name])
        return el(
            "span", signed_weight(each[name], each["unit"]), class_="price open" if alarming else "price"
        )

    return cell


_EXPOSURE_COLUMNS = (
    Column("Metal", _metal),
    Column("Net", _net("net"), number=True),
    Column("Hedged", _net("hedged"), number=True),
    Column("Unhedged", _net("unhedged"), number=True),
)


def _pending(visit: Visit, reading: Reading[Listed]) -> Html:
    waiting, total = reading.value or ([], 0)
    late_after = age(visit.settings.late_s)
    late = [each["age_s"] >= visit.settings.late_s for each in waiting].count(True)
    shown = f"{total} waiting" if total == len(waiting) else f"the oldest {len(waiting)} of {total}"
    return table_card(
        visit,
        "Waiting for the hedge",
        "pending",
        _PENDING_COLUMNS,
        waiting,
        key="order_id",
        nothing=(
            "No orders are waiting.",
            f"{_PENDING_TEXT} One that waits longer than {late_after} turns red.",
        ),
        css=lambda each: "late" if each["age_s"] >= visit.settings.late_s else None,
        aside=[state(BAD, f"{late} over {late_after}") if late else None, hint(shown) if waiting else None],
        reading=reading,
    )


def _age(visit: Visit, each: View) -> Html:
    since = clock(datetime.fromisoformat(each["created_at"]), visit.zone)
    return el("b", age(each["age_s"]), title=f"since {since}")


def _pending_order(_visit: Visit, each: View) -> Child:
    by_desk = None if each["status"] == Status.PENDING else small(f"{each['status']} by the desk")
    return [order_link(each), by_desk]


def _venue_answer(_visit: Visit, each: View) -> Child:
    tries = small(f"asked {times_text(each['tries'])}") if each["tries"] else None
    return [each["words"] or NOTHING, tries]


_PENDING_COLUMNS = (
    Column("Age", _age, number=True),
    Column("Account", lambda _, each: el("a", each["login_id"], href=account_path(each["login_id"]))),
    Column("Order", _pending_order),
    Column("Price", lambda _, each: rupees(each["price"]), number=True),
    Column("Total", lambda _, each: rupees(each["total"]), number=True),
    Column("Venue answer", _venue_answer),
)


def _activity(visit: Visit, reading: Reading[list[View]]) -> Html:
    title = "Orders per minute"
    if reading.value is None:
        return card(title, not_read(reading), name="activity")
    if not reading.value:
        shown = empty(
            f"No orders in the last {MINUTES} minutes.",
            "Accepted and refused orders are counted here, refusals by their code.",
        )
        return card(title, shown, aside=freshness(reading), name="activity")
    this_minute = visit.now.replace(second=0, microsecond=0)
    present = {each["environment"] for each in reading.value}
    charts = [
        _chart(visit, reading.value, each, this_minute)
        for each in (Environment.PRODUCTION, Environment.TEST)
        if each in present
    ]
    legend = hint(el("i", class_="key taken"), "accepted", el("i", class_="key refused"), "refused")
    outcomes = _outcomes(visit, reading.value, this_minute)
    return card(title, *charts, outcomes, aside=[freshness(reading), legend], name="activity")


def _chart(visit: Visit, counts: list[View], environment: Environment, this_minute: datetime) -> Html:
    by_minute: dict[datetime, Counter[str]] = {}
    for each in counts:
        if each["environment"] == environment and each["outcome"] not in _NOT_COUNTED:
            kind = "taken" if each["outcome"] in _ACCEPTED else "refused"
            minute = datetime.fromisoformat(each["minute"]).astimezone(UTC)
            by_minute.setdefault(minute, Counter())[kind] += each["count"]
    columns = []
    for back in range(MINUTES - 1, -1, -1):
        minute = this_minute - back * _MINUTE
        found = by_minute.get(minute, Counter())
        name = f"{clock(minute, visit.zone)}: {found['taken']} accepted, {found['refused']} refused"
        columns.append((name, [("taken", found["taken"]), ("refused", found["refused"])]))
    most = max((found.total() for found in by_minute.values()), default=0)
    label = f"Orders per minute in {environment}, at most {most}"
    caption = el("figcaption", environment.value, el("small", f"at most {most} per minute"))
    return el("figure", caption, bar_chart(columns, width=450, height=60, label=label))


_Outcome = tuple[tuple[str, str], list[int]]
"""Environment and outcome, with the counts of this minute, the last one, and all."""


def _outcomes(visit: Visit, counts: list[View], this_minute: datetime) -> Html:
    """Accepted orders first, then refusals; production before test, and frequent before rare."""
    sums: dict[tuple[str, str], list[int]] = {}
    for each in counts:
        outcome = "accepted" if each["outcome"] in _ACCEPTED else each["outcome"]
        found = sums.setdefault((each["environment"], outcome), [0, 0, 0])
        minute = datetime.fromisoformat(each["minute"])
        found[0] += each["count"] if minute == this_minute else 0
        found[1] += each["count"] if minute == this_minute - _MINUTE else 0
        found[2] += each["count"]

    def order(row: _Outcome) -> tuple[bool, bool, int]:
        (environment, outcome), numbers = row
        return outcome != "accepted", environment != "production", -numbers[2]

    rows = sorted(sums.items(), key=order)[:_OUTCOMES_SHOWN]
    return table(visit, "outcomes-table", _OUTCOME_COLUMNS, rows, key=lambda row: " ".join(row[0]))


def _outcome(_visit: Visit, row: _Outcome) -> Child:
    outcome = row[0][1]
    if outcome == "accepted":
        return el("b", outcome)
    return outcome if outcome in _NOT_COUNTED else el("code", outcome)


_OUTCOME_COLUMNS: Sequence[Column] = (
    Column("Outcome", _outcome),
    Column("Environment", lambda _, row: row[0][0]),
    Column("This min", lambda _, row: count(row[1][0]), number=True),
    Column("Last min", lambda _, row: count(row[1][1]), number=True),
    Column(f"{MINUTES} min", lambda _, row: count(row[1][2]), number=True),
)
PAGE = Page(OVERVIEW, "Overview", {"": _render}, live_s=1, actions=(SETTLE,))
