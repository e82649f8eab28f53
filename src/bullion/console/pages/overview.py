"""The overview on one screen: rates, blotter, orders that wait, clients' position, and orders per minute."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from bullion.console.html import Child, Html, el
from bullion.console.page import Page, Visit, partly_covered
from bullion.console.pages.breaks import SETTLE, breaks_card, order_link
from bullion.console.pages.hedge.exposure_card import exposure_card
from bullion.console.pages.market.market_data import unreadable_rows
from bullion.console.pages.orders.order_actions import queue_actions
from bullion.console.pages.orders.order_format import row_name
from bullion.console.pages.orders.order_list import recent_orders_card
from bullion.console.pages.rates.board_page import rate_board
from bullion.console.paths import ORDERS, OVERVIEW, REFUSALS, account_path, page_path
from bullion.console.shared_read import Reading
from bullion.console.watch import MINUTES, Listed
from bullion.console.widgets.charts import bar_chart
from bullion.console.widgets.components import (
    BAD,
    Column,
    card,
    empty,
    freshness,
    hint,
    not_read,
    state,
    table,
    unreadable_card,
)
from bullion.console.widgets.formatting import (
    age,
    clock,
    count,
    grouped,
    rupees,
    times_text,
    weight,
)
from bullion.desk.desk import View
from bullion.environment import Environment
from bullion.orders.status import Status
from bullion.refusals.refusal import RefusalError

_GROUPS_MAX = 3
"""So many groups of the rate board have room. The rates page shows all."""
_ACCEPTED = frozenset(Status)
_NOT_COUNTED = frozenset({"replayed", "scenario"})
"""Neither accepted nor refused: an answer that was repeated, or a scenario that a client asked for."""
_OUTCOMES_SHOWN = 12
_MINUTE = timedelta(minutes=1)
_PENDING_TEXT = "A production order is listed here from its booking until the venue or the desk answers."


async def _render(visit: Visit) -> Html:
    watch, actor = visit.watch, visit.actor
    board, orders, exposure, queue, breaks, activity = await asyncio.gather(
        rate_board(visit, groups_max=_GROUPS_MAX),
        recent_orders_card(visit),
        exposure_card(visit),
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
            board,
            orders,
            class_="left",
        ),
        el(
            "div",
            _queue(visit, queue),
            exposure,
            _activity(visit, activity),
            class_="right",
        ),
        class_="overview-page",
    )


async def _unreadable(visit: Visit) -> list[tuple[str, View]]:
    """Of the market. Accounts and keys are shown where they are listed: there may be very many."""
    with contextlib.suppress(RefusalError):  # The store cannot be reached: the banner says so.
        return await unreadable_rows(visit)
    return []


def _queue(visit: Visit, reading: Reading[Listed]) -> Html:
    venue = visit.desk.venue
    title = "Waiting for cover" if venue.covers else "Waiting for the simulated venue"
    if venue.by_hand:
        title = "Waiting for the desk"
    waiting, total = reading.value or ([], 0)
    late_s = visit.settings.late_s
    late = [each["age_s"] >= late_s for each in waiting].count(True)
    path = page_path(ORDERS, {"environment": Environment.PRODUCTION.value, "status": Status.PENDING.value})
    aside: list[Child] = [freshness(reading), state(BAD, f"{late} over {age(late_s)}") if late else None]
    if reading.value is None:
        return card(title, not_read(reading), name="pending")
    if not waiting:
        text = f"{_PENDING_TEXT} One that waits longer than {age(late_s)} turns red."
        return card(title, empty("No orders are waiting.", text), aside=aside, name="pending")
    if total > len(waiting):
        aside.append(hint(f"the oldest {len(waiting)}"))
    aside.append(
        el(
            "a",
            count(total),
            class_="focal down" if late else "focal",
            href=path,
            aria_label=f"{total} waiting",
        )
    )
    rows = [_waiting_row(visit, each, late=each["age_s"] >= late_s) for each in waiting]
    shown = el("ul", rows, class_="queue", id="pending-table", data_rows=True)
    return card(title, shown, aside=aside, name="pending")


def _waiting_row(visit: Visit, each: View, *, late: bool) -> Html:
    since = clock(datetime.fromisoformat(each["created_at"]), visit.zone)
    by_desk = "" if each["status"] == Status.PENDING else f"{each['status']} by the desk"
    tries = f"asked {times_text(each['tries'])}" if each["tries"] else ""
    # The desk knows that it has not answered itself yet.
    answer = () if visit.desk.venue.by_hand else (each["words"], tries)
    rest = ""
    if partly_covered(each):
        rest = f"partly covered: {weight(each['rest']['quantity'], each['unit'])} left to decide about"
    said = " · ".join(filter(None, (by_desk, rest, *answer)))
    return el(
        "li",
        el("b", age(each["age_s"]), class_="age", title=f"since {since}"),
        el(
            "div",
            el("div", order_link(each), " ", el("span", grouped(each["price"]), class_="at"), class_="what"),
            el(
                "div",
                el("a", each["login_id"], href=account_path(each["login_id"])),
                f" · {rupees(each['total'])}",
                class_="said",
            ),
            el("div", said, class_="said") if said else None,
        ),
        queue_actions(visit, each),
        class_="late" if late else None,
        data_key=each["order_id"],
        data_row=row_name(each),
    )


def _activity(visit: Visit, reading: Reading[list[View]]) -> Html:
    title = "Orders per minute"
    if reading.value is None:
        return card(title, not_read(reading), name="activity")
    this_minute = visit.now.replace(second=0, microsecond=0)
    since = this_minute - (MINUTES - 1) * _MINUTE
    counts = [each for each in reading.value if datetime.fromisoformat(each["minute"]) >= since]
    if not counts:
        shown = empty(
            f"No orders in the last {MINUTES} minutes.",
            "Accepted and refused orders are counted here, refusals by their code.",
        )
        return card(title, shown, aside=freshness(reading), name="activity")
    present = {each["environment"] for each in counts}
    charts = [
        _chart(visit, counts, each, this_minute)
        for each in (Environment.PRODUCTION, Environment.TEST)
        if each in present
    ]
    legend = hint(el("i", class_="key taken"), "accepted", el("i", class_="key refused"), "refused")
    refused = sum(each["count"] for each in counts if _kind(each["outcome"]) == "refused")
    path = page_path(REFUSALS, {"since": since.isoformat()})
    label = f"{count(refused)} refused in {MINUTES} minutes"
    focal = el("a", count(refused), class_="focal down" if refused else "focal", href=path, aria_label=label)
    aside = [freshness(reading), legend, focal]
    return card(title, *charts, _outcomes(visit, counts, since, this_minute), aside=aside, name="activity")


def _kind(outcome: str) -> str | None:
    """None: neither accepted nor refused."""
    if outcome in _NOT_COUNTED:
        return None
    return "taken" if outcome in _ACCEPTED else "refused"


def _chart(visit: Visit, counts: list[View], environment: Environment, this_minute: datetime) -> Html:
    by_minute: dict[datetime, Counter[str]] = {}
    for each in counts:
        kind = _kind(each["outcome"])
        if each["environment"] == environment and kind is not None:
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
"""Environment and outcome, with the counts of this minute and of all."""


def _outcomes(visit: Visit, counts: list[View], since: datetime, this_minute: datetime) -> Html:
    """Accepted orders first, then refusals; production before test, and frequent before rare."""
    sums: dict[tuple[str, str], list[int]] = {}
    for each in counts:
        outcome = "accepted" if each["outcome"] in _ACCEPTED else each["outcome"]
        found = sums.setdefault((each["environment"], outcome), [0, 0])
        found[0] += each["count"] if datetime.fromisoformat(each["minute"]) == this_minute else 0
        found[1] += each["count"]

    def order(row: _Outcome) -> tuple[bool, bool, int]:
        (environment, outcome), numbers = row
        return outcome != "accepted", environment != "production", -numbers[1]

    def counted(number: int, since: datetime) -> Callable[[Visit, _Outcome], Child]:
        return lambda _, row: _linked_count(row, row[1][number], since)

    rows = sorted(sums.items(), key=order)[:_OUTCOMES_SHOWN]
    columns = (
        Column("Outcome", _outcome),
        Column("Environment", lambda _, row: row[0][0]),
        Column("This min", counted(0, this_minute), number=True),
        Column(f"{MINUTES} min", counted(1, since), number=True),
    )
    return table(visit, "outcomes-table", columns, rows, key=lambda row: " ".join(row[0]))


def _outcome(_visit: Visit, row: _Outcome) -> Child:
    outcome = row[0][1]
    if outcome == "accepted":
        return el("b", outcome)
    if outcome in _NOT_COUNTED:
        return outcome
    # A long code wraps behind an underscore. Otherwise it would push the counts out of the card.
    first, *others = outcome.split("_")
    return el("code", first, [["_", el("wbr"), each] for each in others])


def _linked_count(row: _Outcome, number: int, since: datetime) -> Child:
    """A link to the orders or refusals that were counted."""
    (environment, outcome), text = row[0], count(number)
    if outcome in _NOT_COUNTED or number == 0:
        return text
    if outcome == "accepted":
        path = page_path(ORDERS, {"environment": environment, "from": since.isoformat()})
    else:
        path = page_path(REFUSALS, {"code": outcome, "environment": environment, "since": since.isoformat()})
    return el("a", text, href=path)


PAGE = Page(OVERVIEW, "Overview", {"": _render}, live_s=1, actions=(SETTLE,))
