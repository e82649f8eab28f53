"""Covers that the venue does not answer, settled by a dealer: nothing counts twice, and a break is shown."""

import asyncio
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from bullion.booking.cover_sending import cover_request
from bullion.desk.actions.breaks import list_breaks
from bullion.desk.actions.cover_settling import settle_cover
from bullion.desk.bodies import CoverSettlingBody
from bullion.desk.conversion import convert
from bullion.desk.desk import Desk
from bullion.hedge.contract import ONE_E8
from bullion.hedge.cover import BookCover
from bullion.hedge.simulated import Mode, VenueBehaviour
from bullion.hedge.venue import (
    Confirmed,
    Declined,
    Fill,
    FinalAnswer,
    OutcomeReport,
    PartiallyFilled,
    is_total,
)
from bullion.metals.scaled import plain
from bullion.records.page import FIRST_PAGE
from bullion.refusals.refusal import RefusalError
from bullion.store.line_states import StoredLineControls
from tests.support.line_state import line_report

from .desk_over import ADMIN, desk_over
from .test_sent_covers import LOT_E4, LOT_MG, PRICE, Died, House, OnceVenue, house, other  # noqa: F401 - fixtures

pytestmark = pytest.mark.anyio

AT = "71250"
AT_E6 = 71_250_000_000


def executed(*fills: tuple[str, str]) -> CoverSettlingBody:
    """By execution and quantity."""
    listed = [{"execution_id": name, "quantity": quantity, "price": AT} for name, quantity in fills]
    return convert(
        {"outcome": "executed", "reason": "their desk said so", "fills": listed}, CoverSettlingBody
    )


NONE = convert({"outcome": "none", "reason": "they have no such order"}, CoverSettlingBody)


async def venue_is(house: House, mode: Mode) -> None:  # noqa: F811
    behaviour = VenueBehaviour("main", mode)
    await house.records.write("venue", lambda records: records.put_venue_behaviour(behaviour))


async def unanswered(house: House, lots: int = 2, *, hears: bool = True) -> BookCover:  # noqa: F811
    """A cover that was submitted, whose answer is lost, and whose venue is away since."""
    await venue_is(house, Mode.DOWN)
    cover = await house.cover(lots)
    house.venue.unreachable, house.venue.hears = True, hears
    await house.sending.settle()
    assert await house.state(cover) == "sent"
    return cover


async def settle(house: House, cover: BookCover, body: CoverSettlingBody, desk: Desk | None = None) -> Any:  # noqa: F811
    return await settle_cover(desk or desk_over(house.dealings.engine), ADMIN, cover.id, body)


async def refused(house: House, cover: BookCover, body: CoverSettlingBody, **options: Any) -> str:  # noqa: F811
    before = await house.dealings.rows("SELECT * FROM covers ORDER BY id")
    with pytest.raises(RefusalError) as found:
        await settle(house, cover, body, **options)
    assert await house.dealings.rows("SELECT * FROM covers ORDER BY id") == before
    assert await house.dealings.rows("SELECT * FROM audit") == []
    errors = found.value.errors
    return (errors[0].msg if errors else found.value.message).lower()


async def test_what_the_venue_executed_is_in_the_book_once(house: House) -> None:  # noqa: F811
    cover = await unanswered(house)
    done = await settle(house, cover, executed(("F1", "1"), ("F2", "1")))
    assert (done["state"], done["settled_by"], done["words"]) == ("filled", ADMIN.name, "their desk said so")
    assert await house.fills() == [(name, 1, AT_E6, PRICE.reference_e6) for name in ("F1", "F2")]
    assert await house.cover_mg() == 2 * LOT_MG
    again = await settle(house, cover, executed(("F2", "1"), ("F1", "1")))
    assert again["deals"] == done["deals"]
    assert await house.cover_mg() == 2 * LOT_MG
    await house.sound()


async def test_a_part_ends_the_cover_and_none_leaves_the_book_as_it_is(house: House) -> None:  # noqa: F811
    part, none = await unanswered(house), await unanswered(house)
    assert (await settle(house, part, executed(("F1", "1"))))["state"] == "partly"
    assert (await settle(house, none, NONE))["state"] == "dropped"
    assert (await settle(house, none, NONE))["state"] == "dropped"  # Said again.
    assert await house.cover_mg() == LOT_MG
    house.venue.unreachable = False
    house.dealings.now_us += 60_000_000
    calls = list(house.venue.calls)
    await house.sending.settle()
    assert house.venue.calls == calls  # It is not asked for, and not sent again.
    await house.sound()


FILLS = (Fill("F1", ONE_E8, AT_E6, 9), Fill("F2", ONE_E8, AT_E6, 9))


def total(price_e6: int, lots: int = 2) -> Fill:
    """What a line knows after it was away: a total and an average price."""
    return Fill("total:V", lots * ONE_E8, price_e6, 9)


LATER: dict[str, tuple[FinalAnswer, int | None]] = {
    "the same": (Confirmed("V", FILLS), None),
    "in another order": (Confirmed("V", FILLS[::-1]), None),
    "without its fills": (Confirmed("V"), None),
    "under the id of a fill": (Confirmed("F1", FILLS), None),
    "less": (PartiallyFilled("V", FILLS[:1], LOT_MG, "half"), -LOT_E4),
    "one for two": (Confirmed("V", (Fill("F1", 2 * ONE_E8, AT_E6, 9),)), 0),
    "another execution": (Confirmed("V", (FILLS[0], Fill("F3", ONE_E8, AT_E6, 9))), 0),
    "another price": (Confirmed("F1", (FILLS[0], Fill("F2", ONE_E8, 7, 9))), 0),
    "as a total": (Confirmed("V", (total(AT_E6 + 9),)), None),
    "in part as a total": (Confirmed("V", (FILLS[1], total(AT_E6, 1))), None),
    "as a dearer total": (Confirmed("V", (total(AT_E6 + 2_000_000),)), 0),
    "declined": (Declined("V", "never had it"), -2 * LOT_E4),
}
"""What the venue says later, and the weight of the break that it makes, if any."""


def with_ids_of(answer: FinalAnswer, number: int) -> FinalAnswer:
    """Each cover has executions of its own."""
    name = f"{number}-{answer.execution_id}"
    if isinstance(answer, Declined):
        return msgspec.structs.replace(answer, execution_id=name)
    fills = tuple(
        each
        if is_total(each)
        else msgspec.structs.replace(each, execution_id=f"{number}-{each.execution_id}")
        for each in answer.fills
    )
    return msgspec.structs.replace(answer, execution_id=name, fills=fills)


@pytest.mark.parametrize("way", ["report", "reconciliation"])
async def test_a_later_answer_of_the_venue_counts_nothing_again(house: House, way: str) -> None:  # noqa: F811
    expected = []
    for number, (later, excess_e4) in enumerate(LATER.values()):
        cover = await unanswered(house, hears=False)
        answer = with_ids_of(later, number)
        await settle(house, cover, executed((f"{number}-F1", "1"), (f"{number}-F2", "1")))
        if excess_e4 is not None:
            expected.append((answer.execution_id, "differs", excess_e4))
        for _ in range(2):
            if way == "report" or isinstance(answer, Declined):
                await house.sending.take(OutcomeReport(cover.id, answer))
            else:
                house.venue.unreachable, house.venue.known[cover.id] = False, answer
                whole = answer if answer.fills else Confirmed(answer.execution_id, FILLS)
                house.venue.list(cover_request(cover), whole)
                await house.reconcile()
        assert await house.state(cover) == "filled"
    assert await house.breaks() == sorted(expected)
    assert await house.cover_mg() == 2 * LOT_MG * len(LATER)
    shown, _ = await list_breaks(desk_over(house.dealings.engine), ADMIN, FIRST_PAGE)
    words = [each["words"] for each in shown]
    assert sum("another execution or price" in each for each in words) == 4
    await house.sound()


@pytest.mark.parametrize("way", ["report", "reconciliation"])
async def test_what_the_venue_has_after_all_is_a_break(house: House, way: str) -> None:  # noqa: F811
    cover = await unanswered(house)
    await settle(house, cover, NONE)
    answer = house.venue.known[cover.id]
    assert isinstance(answer, Confirmed)
    house.venue.unreachable = False
    for _ in range(2):
        if way == "report":
            await house.sending.take(OutcomeReport(cover.id, answer))
        else:
            await house.reconcile()
    assert await house.breaks() == [("V1", "differs", 2 * LOT_E4)]
    assert (await house.state(cover), await house.cover_mg()) == ("dropped", 0)
    await house.sound()


async def test_a_second_execution_of_a_settled_cover_is_a_break(house: House) -> None:  # noqa: F811
    cover = await unanswered(house, hears=False)
    await settle(house, cover, executed(("F1", "1"), ("F2", "1")))
    house.venue.unreachable, house.venue.known[cover.id] = False, Confirmed("V1", FILLS)
    request = cover_request(cover)
    house.venue.list(request, Confirmed("V1", FILLS))
    house.venue.list(request, Confirmed("V9", FILLS[:1]))
    await house.reconcile()
    assert await house.breaks() == [("V9", "second_execution", LOT_E4)]


async def test_a_venue_that_lists_an_execution_and_does_not_know_its_cover_holds_up_nobody(
    house: House,  # noqa: F811
) -> None:
    cover = await unanswered(house, hears=False)
    await settle(house, cover, NONE)
    house.venue.unreachable = False
    house.venue.list(cover_request(cover), Confirmed("V1", FILLS))
    await house.reconcile()
    assert await house.breaks() == [("V1", "differs", 2 * LOT_E4)]


# --- Refusals ------------------------------------------------------------------------------------------


async def test_only_a_cover_that_the_venue_may_have_and_does_not_answer_is_settled(house: House) -> None:  # noqa: F811
    await venue_is(house, Mode.DOWN)
    suggested, unpriced = await house.cover(send=False), await house.cover()
    assert await refused(house, suggested, NONE) == (
        "only a cover that is sent can be settled; this one is suggested."
    )
    assert "drop it instead" in await refused(house, unpriced, NONE)
    nobody = msgspec.structs.replace(unpriced, id="nobody")
    assert await refused(house, nobody, NONE) == "there is no cover nobody."
    await house.sending.settle()
    assert "this one is filled" in await refused(house, unpriced, executed(("F9", "2")))


async def test_a_settled_cover_is_not_settled_otherwise(house: House) -> None:  # noqa: F811
    cover = await unanswered(house)
    await settle(house, cover, executed(("F1", "1")))
    await house.dealings.rows("DELETE FROM audit")
    for otherwise in (executed(("F1", "2")), executed(("F1", "1"), ("F2", "1")), NONE):
        assert "this one is partly" in await refused(house, cover, otherwise)
    assert await house.cover_mg() == LOT_MG


async def test_it_is_refused_while_the_venue_can_be_asked(house: House) -> None:  # noqa: F811
    cover = await unanswered(house)
    for mode in (Mode.FILL, Mode.HOLD, Mode.REFUSE):
        await venue_is(house, mode)
        assert "is being asked" in await refused(house, cover, NONE)
    away = replace(desk_over(house.dealings.engine), hedge="fix")  # The venue was exchanged since.
    assert (await settle(house, cover, NONE, away))["state"] == "dropped"


async def test_it_is_refused_while_its_line_is_up(house: House) -> None:  # noqa: F811
    covers = [await unanswered(house) for _ in range(3)]
    await house.dealings.rows("UPDATE covers SET sent_to = 'fix'")
    now_us = await house.records.read("now", lambda records: records.now_us())
    controls = StoredLineControls(house.dealings.engine)
    for name in ("mcx", "another"):
        await house.dealings.rows(
            "INSERT INTO fix_lines VALUES ($1, 'holder', $2, '', '', 0, 1, 1, NULL)", name, 2**60
        )
    await controls.exchange("another", "holder", "main", line_report(now_us + 60_000_000), 0)
    desk = replace(desk_over(house.dealings.engine), hedge="fix")
    for state in ("up", "recovering", "leaving"):
        await controls.exchange("mcx", "holder", "main", line_report(now_us + 60_000_000, state=state), 0)
        told = await refused(house, covers[0], NONE, desk=desk)
        assert told.startswith("the line mcx is up, and the venue is being asked for this cover.")
    # It is lost, it rests, or no node has held it for a while.
    for cover, (state, at_us) in zip(
        covers, [("waiting", now_us), ("resting", now_us), ("up", now_us - 60_000_000)], strict=True
    ):
        await controls.exchange("mcx", "holder", "main", line_report(at_us, state=state), 0)
        assert (await settle(house, cover, NONE, desk))["state"] == "dropped"


async def test_it_is_refused_while_a_node_may_be_asking(house: House) -> None:  # noqa: F811
    cover = await unanswered(house)
    now_us = await house.records.read("now", lambda records: records.now_us())
    await house.dealings.rows("UPDATE covers SET claimed_until_us = $1", now_us + 3_500_000)
    told = await refused(house, cover, NONE)
    assert told.startswith("a node may be asking the venue for this cover now. try again in ")
    await house.dealings.rows("UPDATE covers SET claimed_until_us = $1", now_us - 1)
    await settle(house, cover, NONE)


async def test_fills_that_cannot_be(house: House) -> None:  # noqa: F811
    cover = await unanswered(house)
    assert "must be given" in await refused(house, cover, executed())
    assert "names an execution twice" in await refused(house, cover, executed(("F1", "1"), ("F1", "1")))
    assert "more than the cover's" in await refused(house, cover, executed(("F1", "2"), ("F2", "1")))
    assert "must be a multiple of 1.0" in await refused(house, cover, executed(("F1", "0.5")))


async def test_none_of_it_has_no_fills_and_a_known_execution_is_refused(house: House) -> None:  # noqa: F811
    first = await unanswered(house, 1)
    await settle(house, first, executed(("F1", "1")))
    await house.dealings.rows("DELETE FROM audit")
    cover = await unanswered(house)
    both = msgspec.structs.replace(NONE, fills=executed(("F2", "1")).fills)
    assert "must be empty" in await refused(house, cover, both)
    twice = executed(("F3", "1"), ("F1", "1"))
    assert await refused(house, cover, twice) == "the execution f1 was recorded before."
    assert await house.cover_mg() == LOT_MG


# --- Several at once, and nodes that die ---------------------------------------------------------------


async def test_a_dealer_and_the_venue_at_once_count_it_once(house: House, other: House) -> None:  # noqa: F811
    cover = await unanswered(house, hears=False)
    answer = Confirmed("V1", FILLS)
    body = executed(("F1", "1"), ("F2", "1"))
    await asyncio.gather(
        settle(house, cover, body),
        settle(other, cover, body),
        other.sending.answer(cover, answer),
        house.sending.answer(cover, answer),
        return_exceptions=True,
    )
    assert await house.cover_mg() == 2 * LOT_MG
    assert (await house.state(cover), await house.breaks()) == ("filled", [])
    await house.sound()


@pytest.mark.parametrize("step", ["price", "submit", "answer"])
async def test_a_node_that_died_anywhere_leaves_a_cover_that_can_be_settled(
    house: House,  # noqa: F811
    other: House,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    step: str,
) -> None:
    """If the venue has it, and the dealer was told so, its later word changes nothing."""
    await venue_is(house, Mode.DOWN)
    cover = await house.cover()
    owner = house.venue if step == "submit" else house.covers
    call = getattr(owner, step)

    async def die(*values: Any) -> None:
        if step != "answer":
            await call(*values)
        raise Died

    with monkeypatch.context() as dying:
        dying.setattr(owner, step, die)
        with pytest.raises(Died):
            await house.sending.settle()
    await house.dealings.rows("UPDATE covers SET claimed_until_us = 1")  # Its lease is over.
    known = house.venue.known.get(cover.id)
    await settle(house, cover, NONE if known is None else told_of(known))
    other.dealings.now_us = house.now_us() + 60_000_000
    await other.sending.settle()
    await other.reconcile()
    assert await other.breaks() == []
    assert await other.cover_mg() == (0 if known is None else 2 * LOT_MG)
    await other.sound()


def told_of(answer: Any) -> CoverSettlingBody:
    (fill,) = answer.fills
    body = executed((fill.execution_id, "2"))
    price = msgspec.structs.replace(body.fills[0], price=plain(fill.price_e6, 6))
    return msgspec.structs.replace(body, fills=[price])


async def test_a_dealer_whose_transaction_is_lost_leaves_all_as_it_was(
    house: House,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cover = await unanswered(house)

    async def die(*_: Any) -> None:
        raise Died

    monkeypatch.setattr("bullion.store.cover_records.CoverRecords.settle_cover", die)
    with pytest.raises(Died):
        await settle(house, cover, executed(("F1", "2")))
    assert (await house.state(cover), await house.fills(), await house.cover_mg()) == ("sent", [], 0)
    await house.sound()
