"""The history of a hedge book: `books verify` finds a plan, a planner or a limit that went wrong."""

import msgspec
import pytest

from bullion.books.book_history import history_differences
from bullion.books.hedge_books import hedge_book_differences
from bullion.desk.actions.covers import create_cover, send_cover
from bullion.desk.bodies import BookCoverBody
from bullion.hedge.book.rules import Rule, RuleKind
from bullion.store.cover_planning import LEASE_US, StoredCoverPlans
from bullion.store.engine import Engine, Transaction
from bullion.store.postgres import PostgresEngine
from bullion.store.sqlite import SqliteEngine
from tests.hedge.book.samples import AUTO

from .dealings import Dealings
from .desk_over import ADMIN, desk_over
from .test_cover_planning import BOOK, NET, Covered, buy
from .test_house_book import GRAM

pytestmark = pytest.mark.anyio

LINE_TOO_MUCH = (
    "INSERT INTO fix_lines VALUES ('venue', '', 0, '', '', 0, 1, 1, NULL)",
    (
        "INSERT INTO line_orders SELECT 'venue', id, id, 1, broker, '{}', 1, 'final', 1, '{}', "
        "2 * quantity_e8 FROM covers WHERE state = 'filled'"
    ),
)
_FILLED = "(SELECT id FROM covers WHERE state = 'filled')"
LIES: dict[str, tuple[tuple[str, ...], str]] = {
    "more than the need": (
        ("UPDATE covers SET quantity_e8 = 100 * quantity_e8 WHERE state = 'sent'",),
        "H3: 4995000 mg are planned for a need of -50750 mg",
    ),
    "the other side": (
        ("UPDATE covers SET side = 'sell' WHERE state = 'sent'",),
        "H3: a planned cover enlarges the need of -50750 mg",
    ),
    "two of a contract": (
        ("UPDATE covers SET terms = (SELECT terms FROM covers WHERE state = 'sent') WHERE state = 'filled'",),
        "H3: two covers of GOLDPETAL are under way",
    ),
    "another position": (
        ("UPDATE book_entries SET client_mg = client_mg + 60000 WHERE ordinal = 2",),
        "are planned for a need of",
    ),
    "a cover that is gone": (
        (f"UPDATE covers SET plan = replace(plan, {_FILLED}, 'nobody')",),
        "H3: cover nobody was under way, and there is none",
    ),
    "an entry that is not there": (
        ("UPDATE covers SET planned_after = 77 WHERE state = 'sent'",),
        "entry 77",
    ),
    "a cover under way that was not counted": (
        (
            (
                "UPDATE covers SET sent_at_us = planned_at_us - 300000000, planned_after = NULL, "
                "finished_at_us = planned_at_us + 300000000 WHERE state = 'filled'"
            ),
            f"UPDATE covers SET plan = replace(plan, {_FILLED}, 'nobody') WHERE state = 'sent'",
        ),
        "it was under way",
    ),
    "two planners": (
        ("UPDATE covers SET plan = replace(plan, 'this node', 'that node') WHERE state = 'filled'",),
        "H4: this node planned during the lease of that node",
    ),
    "executed twice": (LINE_TOO_MUCH, "executions of 400000000"),
    "beyond the limit": (
        ("UPDATE book_terms SET limit_mg = 200000",),
        "H7: a confirmation took the residual from 0 to -249750 mg, above 200000 mg",
    ),
}


class Undone(Exception):
    """What was done must not stay."""


@pytest.fixture
async def house(engine: Engine) -> Covered:
    """A book with a plan that was filled in part, and a second plan while that is under way."""
    made = Covered(await Dealings.open(engine, 4))
    await made.open(limit_mg=1000 * GRAM)
    await made.rule(msgspec.structs.replace(NET, contracts=("GOLDM",)))
    await buy(made, 250)
    await made.plan()
    (first,) = await made.ids("sent")
    await made.rule(NET)
    await made.plan()
    assert await made.covers() == [("GOLDM", "buy", 2, "sent"), ("GOLDPETAL", "buy", 50, "sent")]
    await made.fill(first)
    return made


async def found(house: Covered, lies: tuple[str, ...] = ()) -> list[str]:
    """What the check finds after these changes, which are then taken back."""
    engine = house.dealings.engine
    told: list[str] = []
    assert isinstance(engine, SqliteEngine | PostgresEngine)

    async def body(transaction: Transaction) -> None:
        for sql in lies:
            engine._queries[f"test {sql}"] = sql
            await transaction.all(f"test {sql}")
        told.extend(
            f"{check.what} {name}: {stored}, {right}"
            for check, _, name, stored, right in await hedge_book_differences(transaction)
        )
        raise Undone

    with pytest.raises(Undone):
        await engine.write("lie", body)
    return told


async def test_what_is_right_is_found_right_and_every_lie_is_found(house: Covered) -> None:
    assert await found(house) == []
    for name, (lies, words) in LIES.items():
        told = await found(house, lies)
        assert any(words in each for each in told), (name, told)
    assert await found(house) == []


async def test_a_suggestion_that_a_dealer_did_not_send_after_all_may_be_gone(house: Covered) -> None:
    """It counted as under way while the dealer worked on it, and a later plan replaced it."""
    gone = f"UPDATE covers SET plan = replace(plan, {_FILLED}, 'nobody')"
    taken = """UPDATE covers SET plan = replace(plan, '"taken":[]', '"taken":["nobody"]')"""
    assert await found(house, (gone, taken)) == []
    assert await found(house, (gone,)) != []


async def test_dealers_may_send_several_covers_of_one_contract(house: Covered) -> None:
    """They count in the need like any other, so the planner makes no second cover of a contract by them."""
    desk = desk_over(house.dealings.engine)
    await house.rule(NET, contracts=[AUTO["GOLDM"], AUTO["GOLDPETAL"], AUTO["GOLDTEN"]])
    for key in ("one", "two"):
        body = BookCoverBody(contract="GOLDTEN", side="buy", quantity="1", idempotency_key=key)
        made = await create_cover(desk, ADMIN, body)
        await send_cover(desk, ADMIN, str(made["id"]))
    await buy(house, 300)
    assert [each.cover.contract.code for each in (await house.plan()).added] == ["GOLDM"]
    assert len((await house.state()).position.working) == 4
    assert await found(house) == []


async def test_a_limit_is_judged_as_it_was_at_the_time(house: Covered) -> None:
    await house.open(limit_mg=60 * GRAM)
    assert (await house.deal(house.dealings.books[1], "buy", 300)).status == "pending"
    await house.deal(house.dealings.books[1], "sell", 40)
    assert await house.book.review() == 0
    await house.open(limit_mg=1000 * GRAM)
    assert await house.book.review() == 1
    assert await found(house) == []
    limits = await house.dealings.rows("SELECT limit_mg FROM book_terms ORDER BY after_ordinal")
    assert [row["limit_mg"] // GRAM for row in limits] == [1000, 60, 1000]
    lie = ("UPDATE book_terms SET limit_mg = 1 WHERE after_ordinal > 1",)
    assert any("H7" in each for each in await found(house, lie))


async def test_entries_older_than_the_record_of_terms_are_not_judged(house: Covered) -> None:
    assert await found(house, ("UPDATE book_terms SET after_ordinal = 3, limit_mg = 1",)) == []


async def test_a_plan_that_a_dealer_asked_for_is_not_of_a_second_planner(house: Covered) -> None:
    await house.rule(NET, Rule("now", RuleKind.BY_HAND, 0, ("GOLDPETAL",)))
    await house.dealings.rows("UPDATE covers SET state = 'refused', finished_at_us = 1 WHERE state = 'sent'")
    assert await house.by_hand("now")
    later = StoredCoverPlans(house.dealings.engine, "later node")
    await house.dealings.rows("UPDATE leases SET until_us = until_us - $1", 2 * LEASE_US)
    await buy(house, 1)
    await later.plan(BOOK, house.seen)
    # The lease was cut short behind the service's back: without that, the second node could not plan.
    (told,) = await found(house)
    assert "H4: later node planned during the lease of this node" in told


async def test_entries_are_read_in_batches(house: Covered, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        await buy(house, 1)
    monkeypatch.setattr("bullion.books.book_history._BATCH", 2)
    assert await found(house) == []
    lie = ("UPDATE book_terms SET limit_mg = 1",)
    assert sum("H7" in each for each in await found(house, lie)) == 4


async def test_a_suggestion_that_is_kept_belongs_to_the_newest_plan(house: Covered) -> None:
    house.seen.sends = False
    await house.dealings.rows("UPDATE covers SET state = 'refused', finished_at_us = 1 WHERE state = 'sent'")
    await buy(house, 100)
    await house.plan()
    await buy(house, 1)
    await house.plan()
    plans = await house.dealings.rows("SELECT planned_after FROM covers WHERE state = 'suggested'")
    assert len(plans) == 2
    assert {row["planned_after"] for row in plans} == {(await house.position()).version}
    assert await found(house) == []


async def test_a_book_that_is_not_open_has_no_history(engine: Engine) -> None:
    async def body(transaction: Transaction) -> list[object]:
        return [each async for each in history_differences(transaction, "main", "silver")]

    assert await engine.read("history", body) == []
