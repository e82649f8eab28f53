"""Covers that are planned by rule, in the store: one plan for a state of the book, by one node at a time."""

import asyncio
import random
import re
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from bullion.booking.cover_planning import BookState, NewCover, Revision
from bullion.desk.actions.covers import send_cover
from bullion.hedge.book.invariants import plan_problems
from bullion.hedge.book.planner import PlannedCover, Snapshot, plan_covers
from bullion.hedge.book.profit import Mark
from bullion.hedge.book.rules import Rule, RuleKind
from bullion.hedge.contract import ONE_E8, Contract
from bullion.hedge.venue import Fill
from bullion.metals.metal import Metal
from bullion.rates.duty import duty_day
from bullion.records.hedge_book import CoverDeal, StoredContract
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError
from bullion.store import prepared_queries, queries
from bullion.store.book_ages import BookAges
from bullion.store.cover_planning import StoredCoverPlans, read_book, record
from bullion.store.engine import Engine, Row, Transaction
from bullion.store.postgres import PostgresEngine
from bullion.store.records import Records, RecordStore
from bullion.store.sqlite import SqliteEngine
from tests.booking.fixtures import rows
from tests.hedge.book.samples import AUTO, MARK, SEED

from .dealings import Dealings
from .desk_over import ADMIN, desk_over
from .test_house_book import GRAM, House

pytestmark = pytest.mark.anyio

BOOK = ("main", "gold")
NET = Rule("net", RuleKind.OVER, 50_000, ("GOLDM", "GOLDPETAL"), mode="auto")


class Seen:
    """What a node sees of the market."""

    def __init__(self, *, sends: bool = True) -> None:
        self.sends = sends
        self.away: set[str] = set()
        self.ends_us: int | None = None

    def plans(self, broker: str) -> bool:
        return broker == "main"

    def available(self, broker: str, contract: Contract) -> bool:
        return broker == "main" and contract.code not in self.away

    def sendable(self, broker: str, contract: Contract) -> bool:
        return broker == "main" and contract.venue != "desk" and self.sends

    def mark(self, broker: str, metal: str, contracts: Sequence[Contract]) -> Mark | None:
        return MARK if broker == "main" and metal == "gold" and contracts else None

    def session_ends_us(self, broker: str) -> int | None:
        return self.ends_us if broker == "main" else None


class Covered(House):
    """A house whose book has rules."""

    def __init__(self, dealings: Dealings) -> None:
        super().__init__(dealings)
        self.records = RecordStore(dealings.engine)
        self.plans = StoredCoverPlans(dealings.engine, "this node")
        self.seen = Seen()

    async def rule(self, *rules: Rule, contracts: Sequence[Contract] = tuple(AUTO.values())) -> None:
        async def body(records: Records) -> None:
            await records.set_book_rules("main", Metal.GOLD, rules)
            for each in contracts:
                await records.put_contract("main", StoredContract(each))

        await self.records.write("rules", body)

    async def plan(self) -> Revision:
        return await self.plans.plan(BOOK, self.seen)

    async def covers(self, state: str = "%") -> list[tuple[str, str, int, str]]:
        """Contract, side, lots and state, oldest first."""
        found = await self.dealings.rows(
            "SELECT * FROM covers WHERE state LIKE $1 ORDER BY created_at_us, quantity_e8", state
        )
        return [(row["contract"], row["side"], row["quantity_e8"] // ONE_E8, row["state"]) for row in found]

    async def ids(self, state: str) -> list[str]:
        found = await self.dealings.rows("SELECT id FROM covers WHERE state LIKE $1 ORDER BY id", state)
        return [row["id"] for row in found]

    async def state(self) -> BookState:
        found = await self.dealings.engine.read("book", lambda open_: read_book(open_, BOOK))
        assert found is not None
        return found

    async def fill(self, cover_id: str, lots: int | None = None, *, ends: bool = True) -> None:
        """The venue fills a cover, all of it or some lots; with none it refuses the cover."""

        async def body(records: Records) -> None:
            cover = await records.lock_cover("main", cover_id)
            assert cover is not None
            before = (await records.cover_deals([cover])).get(cover_id, [])
            await records.lock_book_position("main", cover.metal)
            at_us = await records.now_us()
            quantity_e8 = cover.quantity_e8 if lots is None else lots * ONE_E8
            if quantity_e8:
                execution = f"{cover_id}-{quantity_e8}"
                deal = CoverDeal(Fill(execution, quantity_e8, 71_000_000_000, at_us), 0, 0)
                await records.add_cover_deal(cover, deal, at_us)
            if ends:
                filled_e8 = quantity_e8 + sum(each.fill.quantity_e8 for each in before)
                whole = filled_e8 == cover.quantity_e8
                state = "filled" if whole else "partly" if filled_e8 else "refused"
                await records.finish_cover(cover, state, None, None, at_us)

        await self.records.write("fill", body, catalogue=False)

    async def until_locks_wait(self) -> None:
        """Until a session of this PostgreSQL database waits for another."""
        waiting = "SELECT count(*) AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
            AND datname = current_database()"
        async with asyncio.timeout(20):
            while (await self.dealings.rows(waiting))[0]["waiting"] == 0:
                pass

    async def by_hand(self, rule: str) -> Any:
        return await self.records.write(
            "plan",
            lambda records: records.plan_by_hand("main", Metal.GOLD, rule, "dealer"),
            catalogue=False,
        )


@pytest.fixture
async def covered(engine: Engine) -> Covered:
    house = Covered(await Dealings.open(engine, 4))
    await house.open(limit_mg=1000 * GRAM)
    await house.rule(NET)
    return house


async def buy(house: House, grams: int) -> None:
    assert (await house.deal(house.dealings.books[0], "buy", grams)).status == "open"


async def test_the_plan_that_is_recorded_is_the_one_of_its_state(covered: Covered) -> None:
    assert await covered.plans.books() == [BOOK]
    assert not await covered.plan()
    await buy(covered, 250)
    state = await covered.state()
    pure = plan_covers(
        Snapshot(state.position, (NET,), state.contracts, duty_day(state.now_us), state.now_us, mark=MARK)
    )
    revision = await covered.plan()
    assert [each.cover for each in revision.added] == list(pure)
    assert await covered.covers() == [("GOLDM", "buy", 2, "sent"), ("GOLDPETAL", "buy", 50, "sent")]
    rows = await covered.dealings.rows("SELECT * FROM covers")
    for row in rows:
        assert (row["holder"], row["tries"], row["rule"], row["made_by"]) == ("", 0, "net", "planner")
        assert 0 < row["due_at_us"] == row["sent_at_us"] == row["created_at_us"]
        assert msgspec.json.decode(row["terms"], type=Contract) == AUTO[row["contract"]]
    assert not await covered.plan()  # All of it is under way.
    assert len(await covered.covers()) == 2


@pytest.mark.parametrize("without", ["sender", "auto rule", "auto contract"])
async def test_what_may_not_be_sent_alone_is_suggested(covered: Covered, without: str) -> None:
    covered.seen.sends = without != "sender"
    if without == "auto rule":
        await covered.rule(msgspec.structs.replace(NET, mode="suggest"))
    if without == "auto contract":
        await covered.rule(NET, contracts=[SEED["GOLDM"], SEED["GOLDPETAL"]])
    await buy(covered, 100)
    await covered.plan()
    # 99.9 g are a lot of 99.5 g, and less than a gram.
    assert await covered.covers() == [("GOLDM", "buy", 1, "suggested")]
    (row,) = await covered.dealings.rows("SELECT sent_at_us, sent_by, due_at_us FROM covers")
    assert list(row.values()) == [None, None, 0]


async def test_a_suggestion_is_kept_while_it_holds_and_replaced_when_it_does_not(covered: Covered) -> None:
    covered.seen.sends = False
    await buy(covered, 100)
    await covered.plan()
    kept = await covered.ids("suggested")
    await buy(covered, 1)  # Now there is a gram for GOLDPETAL too.
    await covered.plan()
    assert set(kept) < set(await covered.ids("suggested"))
    await buy(covered, 100)
    await covered.plan()
    assert await covered.covers("suggested") == [
        ("GOLDPETAL", "buy", 1, "suggested"),
        ("GOLDM", "buy", 2, "suggested"),
    ]
    # What was replaced is not kept: it would hide the covers that were dealt, and slow down every fill.
    assert len(await covered.covers()) == 2
    assert kept[0] not in await covered.ids("%")
    await covered.deal(covered.dealings.books[1], "sell", 200)
    await covered.plan()
    assert await covered.covers("suggested") == []


async def test_suggestions_go_with_their_rules(covered: Covered) -> None:
    covered.seen.sends = False
    await buy(covered, 100)
    await covered.plan()
    await covered.rule()
    assert await covered.plans.books() == [BOOK]
    await covered.plan()
    assert await covered.covers() == []
    assert await covered.plans.books() == []


async def test_what_is_under_way_and_what_waits_count(covered: Covered) -> None:
    await covered.open(limit_mg=100 * GRAM)
    large = await covered.deal(covered.dealings.books[0], "buy", 450)
    assert large.status == "pending"
    await covered.plan()
    assert (await covered.covers())[-1] == ("GOLDPETAL", "buy", 51, "sent")
    (goldm,) = [
        each
        for each in await covered.ids("sent")
        if (await covered.state()).position.working[each].contract.code == "GOLDM"
    ]
    await covered.fill(goldm, 3, ends=False)
    state = await covered.state()
    assert state.position.working[goldm].left_e8 == ONE_E8
    assert state.position.need_mg == -(450 * GRAM) + 4 * 99_500 + 51 * 999
    assert not await covered.plan()
    await covered.fill(goldm, 1)
    assert await covered.book.review() == 1
    assert (await covered.position()).residual_mg == -(450 * GRAM) + 4 * 99_500
    await covered.sound()


async def test_two_planners_at_once_make_one_plan(covered: Covered) -> None:
    await buy(covered, 250)
    others = [StoredCoverPlans(covered.dealings.engine, f"node {number}") for number in range(4)]
    revisions = await asyncio.gather(*(each.plan(BOOK, covered.seen) for each in others))
    assert sorted(map(len, (each.added for each in revisions))) == [0, 0, 0, 2]
    assert len(await covered.covers()) == 2


class Held:
    """A transaction of the planner that stops once it has locked the position."""

    def __init__(self, transaction: Transaction, locked: asyncio.Event, go_on: asyncio.Event) -> None:
        self.transaction, self.locked, self.go_on = transaction, locked, go_on
        self.all, self.run = transaction.all, transaction.run

    async def one(self, query: str, *values: Any) -> Row | None:
        found = await self.transaction.one(query, *values)
        if query == "lock_book_position":
            self.locked.set()
            await self.go_on.wait()
        return found


async def test_a_planner_and_a_dealer_who_sends_its_suggestion_do_not_wait_for_each_other(
    covered: Covered, engine: Engine, other_engine: Engine
) -> None:
    if not isinstance(engine, PostgresEngine):
        pytest.skip("SQLite has one writer")
    covered.seen.sends = False
    await buy(covered, 250)
    first_go, locked, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()
    wanted = PlannedCover(AUTO["GOLDM"], ONE_E8, "net", "suggest")

    async def suggest(transaction: Transaction) -> str:
        """While the planner waits for the position, a suggestion comes that it is going to replace."""
        await transaction.one("lock_book_position", *BOOK)
        locked.set()
        await first_go.wait()
        revision = Revision(added=(NewCover(wanted, "planner", sent=False),))
        state = await covered.state()
        (made,) = await record(transaction, state, revision, state.basis())
        return made

    first = asyncio.create_task(other_engine.write("suggest", suggest, holding=prepared_queries.ALL))
    await locked.wait()
    locked.clear()
    planner = asyncio.create_task(
        engine.write(
            "plan",
            lambda open_: covered.plans._plan(Held(open_, locked, go_on), BOOK, covered.seen),
            holding=prepared_queries.PLAN_COVERS,
        )
    )
    await covered.until_locks_wait()
    first_go.set()
    sent_id = await first
    await locked.wait()
    dealer = asyncio.create_task(send_cover(desk_over(other_engine), ADMIN, sent_id))
    await covered.until_locks_wait()
    go_on.set()
    await asyncio.gather(planner, dealer)
    assert isinstance(other_engine, PostgresEngine)
    assert (engine.conflicts, other_engine.conflicts) == (0, 0)
    # What the dealer was sending counted as under way, so it was not planned again.
    assert sent_id in await covered.ids("sent")
    (text,) = {
        row["plan"]
        for row in await rows(engine, "SELECT plan FROM covers")
        if row["plan"] and sent_id in row["plan"]
    }
    assert msgspec.json.decode(text)["taken"] == [sent_id]
    position = (await covered.state()).position
    codes = [each.contract.code for each in position.working.values()]
    assert len(codes) == len(set(codes))
    assert -250 * GRAM < position.need_mg <= 0


async def test_planners_and_dealers_at_once_meet_no_error(covered: Covered, other_engine: Engine) -> None:
    await covered.open(limit_mg=10**9)
    covered.seen.sends = False
    desk, engine = desk_over(other_engine), covered.dealings.engine
    sent = 0
    for turn in range(8):
        await buy(covered, 120 + turn)
        await covered.plan()
        found = await covered.ids("suggested")
        await buy(covered, 60)
        tasks = [covered.plan(), covered.by_hand("net"), covered.plan()]
        tasks += [send_cover(desk, ADMIN, each) for each in found for _ in range(2)]
        random.Random(turn).shuffle(tasks)  # noqa: S311 - not for secrets
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            # A suggestion that a newer plan replaced, or that the other one sent.
            if isinstance(result, BaseException):
                assert isinstance(result, RefusalError), result
                assert result.refusal in (NOT_FOUND, CONFLICT)
            elif isinstance(result, dict):
                sent += 1
        position = (await covered.state()).position
        assert position.need_mg <= 0  # No two plans crossed zero.
    assert sent
    for each in (engine, other_engine):
        assert not isinstance(each, PostgresEngine) or each.conflicts == 0
    await covered.sound()


async def test_a_planner_that_lost_its_lease_records_nothing(covered: Covered) -> None:
    await covered.plan()
    other = StoredCoverPlans(covered.dealings.engine, "other node")
    await buy(covered, 250)
    assert not await other.plan(BOOK, covered.seen)
    assert (await covered.plans.books(), await other.books()) == ([BOOK], [])
    await covered.dealings.rows("UPDATE leases SET until_us = 1")
    assert (await covered.plans.books(), await other.books()) == ([BOOK], [BOOK])
    await covered.dealings.rows("UPDATE leases SET holder = 'other node', until_us = $1", 2**60)
    assert not await covered.plan()
    # Also if it lost the lease after it had looked.
    late = await covered.dealings.engine.write(
        "late",
        lambda open_: covered.plans._plan(open_, BOOK, covered.seen),
    )
    assert not late
    assert await covered.covers() == []
    assert await other.plan(BOOK, covered.seen)


async def test_a_contract_rests_after_a_refusal_and_after_a_dealer_dropped_it(covered: Covered) -> None:
    await covered.rule(msgspec.structs.replace(NET, contracts=("GOLDM",)))
    await buy(covered, 100)
    await covered.plan()
    await covered.fill((await covered.ids("sent"))[0], 0)
    assert not await covered.plan()
    await covered.dealings.rows("UPDATE covers SET finished_at_us = finished_at_us - 30000000")
    assert await covered.plan()
    await covered.dealings.rows(
        "UPDATE covers SET state = 'dropped', words = 'not now', finished_at_us = created_at_us "
        "WHERE state = 'sent'"
    )
    assert not await covered.plan()


async def test_a_contract_whose_line_is_down_leaves_its_share_to_others(covered: Covered) -> None:
    covered.seen.away = {"GOLDM"}
    await buy(covered, 100)
    await covered.plan()
    assert await covered.covers() == [("GOLDPETAL", "buy", 100, "sent")]


@pytest.mark.parametrize("kind", [RuleKind.AGE, RuleKind.VALUE, RuleKind.RISK, RuleKind.CLOSE])
async def test_rules_that_need_more_than_a_weight(covered: Covered, kind: RuleKind) -> None:
    await covered.rule(msgspec.structs.replace(NET, kind=kind, threshold=60))
    await buy(covered, 100)
    await covered.dealings.rows("UPDATE book_positions SET volatility_e4 = 12000")
    await covered.dealings.rows("UPDATE book_entries SET at_us = $1", (await covered.state()).now_us)
    covered.seen.ends_us = (await covered.state()).now_us + 120_000_000
    if kind in (RuleKind.AGE, RuleKind.CLOSE):
        assert not await covered.plan()
        await covered.dealings.rows("UPDATE book_entries SET at_us = at_us - 60000000")
        covered.plans = StoredCoverPlans(covered.dealings.engine, "this node")  # It restarts.
        covered.seen.ends_us -= 61_000_000
    assert [each.cover.contract.code for each in (await covered.plan()).added] == ["GOLDM"]


OLD = Rule("old", RuleKind.AGE, 60, ("GOLDM",), mode="auto")
PETALS = Rule("petals", RuleKind.OVER, 10**9, ("GOLDPETAL",), mode="auto")
Deals = list[tuple[int, str, int]]
"""How many seconds ago, the client's side, and grams."""
AGES: dict[str, tuple[Deals, list[str]]] = {
    "a lot came late": ([(300, "buy", 20), (30, "buy", 100)], []),
    "less than a lot": ([(300, "buy", 99)], []),
    "a lot that grew": ([(300, "buy", 120), (30, "buy", 10)], ["buy"]),
    "less than a lot meanwhile": ([(300, "buy", 120), (100, "sell", 60), (30, "buy", 60)], []),
    "the other side since": ([(300, "buy", 120), (30, "sell", 300)], []),
    "the other side long since": ([(300, "buy", 120), (100, "sell", 300), (30, "buy", 10)], ["sell"]),
    "flat": ([(300, "buy", 120), (100, "sell", 120)], []),
}


@pytest.mark.parametrize("planner", ["the same", "another"])
@pytest.mark.parametrize("name", AGES)
async def test_the_age_counts_from_when_there_was_a_lot_to_cover(
    covered: Covered, name: str, planner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bullion.store.book_ages._BATCH", 2)
    deals, sides = AGES[name]
    # The small lots of another rule do not make this one older.
    await covered.rule(PETALS, OLD)
    covered.seen.away = {"GOLDM"}
    for ago_s, side, grams in deals:
        covered.dealings.now_us = (await covered.state()).now_us - ago_s * 1_000_000
        assert (await covered.deal(covered.dealings.books[0], side, grams)).status == "open"
        assert not await covered.plan()
    covered.seen.away = set()
    if planner == "another":
        await covered.dealings.rows("UPDATE leases SET until_us = 1")
        covered.plans = StoredCoverPlans(covered.dealings.engine, "other node")
    assert [_side(each.cover) for each in (await covered.plan()).added] == sides


class Counted:
    """A transaction that counts the entries of books that are read in it."""

    def __init__(self, transaction: Transaction) -> None:
        self.transaction = transaction
        self.one, self.run = transaction.one, transaction.run
        self.entries = 0

    async def all(self, query: str, *values: Any) -> Sequence[Row]:
        rows = await self.transaction.all(query, *values)
        self.entries += len(rows) if query == "entries_before" else 0
        return rows


async def test_a_turn_reads_only_the_entries_since_the_last_one(covered: Covered) -> None:
    await covered.rule(OLD)
    ages, engine = BookAges(), covered.dealings.engine

    async def read(transaction: Transaction) -> tuple[int, int]:
        counted = Counted(transaction)
        state = await read_book(counted, BOOK, ages)
        assert state is not None
        return counted.entries, state.open_since_us["old"]

    covered.dealings.now_us = (await covered.state()).now_us
    for _ in range(5):
        await buy(covered, 100)
    (first,) = await covered.dealings.rows("SELECT at_us FROM book_entries WHERE ordinal = 2")
    began_us = first["at_us"]
    # Five deals, and the opening.
    assert await engine.read("ages", read) == (6, began_us)
    assert await engine.read("ages", read) == (0, began_us)
    await buy(covered, 100)
    assert await engine.read("ages", read) == (1, began_us)


async def test_entries_that_a_new_primary_lacks_do_not_make_a_book_older(
    covered: Covered, monkeypatch: pytest.MonkeyPatch
) -> None:
    await covered.rule(OLD)
    engine = covered.dealings.engine

    async def read(transaction: Transaction) -> int:
        state = await read_book(transaction, BOOK, covered.plans._ages)
        assert state is not None
        return state.open_since_us["old"]

    covered.dealings.now_us = (await covered.state()).now_us
    for _ in range(5):
        await buy(covered, 100)
    began_us = await engine.read("ages", read)
    # The server that takes over has later deals in their places.
    await covered.dealings.rows("UPDATE book_entries SET at_us = at_us + 1000000")
    monkeypatch.setattr(engine, "failovers", engine.failovers + 1)
    assert await engine.read("ages", read) == began_us + 1_000_000


def _side(cover: PlannedCover) -> str:
    return "buy" if cover.quantity_e8 > 0 else "sell"


async def test_under_each_the_rest_is_covered_by_rule(covered: Covered) -> None:
    await covered.open(policy="each")
    dealings = covered.dealings
    order = await dealings.answer(await dealings.place(dealings.books[0], "buy", 1_500_000))
    assert not await covered.plan()
    await dealings.close(order, complete=True)  # Its cover is left.
    await covered.plan()
    assert await covered.covers() == [("GOLDM", "sell", 1, "sent"), ("GOLDPETAL", "sell", 50, "sent")]


async def test_a_dealer_asks_for_a_plan_and_it_follows_the_book(covered: Covered) -> None:
    await covered.rule(msgspec.structs.replace(NET, kind=RuleKind.BY_HAND))
    await buy(covered, 10)
    assert not await covered.plan()
    (asked,) = await covered.by_hand("net")
    assert (asked.contract.code, asked.quantity_e8) == ("GOLDPETAL", 10 * ONE_E8)
    assert [each.id for each in await covered.by_hand("net")] == [asked.id]
    assert not await covered.plan()
    covered.seen.away = {"GOLDPETAL"}
    assert not await covered.plan()
    await buy(covered, 2)
    await covered.plan()
    assert await covered.covers("suggested") == [("GOLDPETAL", "buy", 12, "suggested")]
    (row,) = await covered.dealings.rows("SELECT made_by FROM covers WHERE state = 'suggested'")
    assert row["made_by"] == "dealer"
    await covered.deal(covered.dealings.books[1], "sell", 12)
    await covered.plan()
    await buy(covered, 10)
    assert not await covered.plan()  # It was asked for once.
    assert await covered.covers("suggested") == []


async def test_what_a_turn_reads_does_not_grow_with_the_covers_that_ended(covered: Covered) -> None:
    engine = covered.dealings.engine
    if not isinstance(engine, SqliteEngine):
        pytest.skip("PostgreSQL plans these queries for the tables as they are")
    for name in ("books_to_plan", "lock_suggestions", "open_covers", "declined_contracts"):
        text = queries.load("sqlite")[name]
        values = ["main", "gold", 0, ""][: len(set(re.findall(r"\$\d", text)))]
        steps = [row["detail"] for row in await covered.dealings.rows(f"EXPLAIN QUERY PLAN {text}", *values)]
        of_covers = [each for each in steps if " covers " in each]
        assert of_covers
        assert all("INDEX covers_open " in each or "covers_declined " in each for each in of_covers), steps


@pytest.mark.parametrize("seed", range(2))
async def test_no_plan_crosses_zero_in_a_random_history(covered: Covered, seed: int) -> None:
    """H3, against what the store holds; and H7, whatever waits."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    await covered.open(limit_mg=150 * GRAM)
    seen = 0
    for _ in range(40):
        match chance.choice(["deal", "deal", "plan", "plan", "fill", "review"]):
            case "deal":
                side = chance.choice(["buy", "buy", "sell"])
                await covered.deal(chance.choice(covered.dealings.books), side, chance.randint(1, 400))
            case "plan":
                before = await covered.state()
                planned: list[PlannedCover] = [each.cover for each in (await covered.plan()).added]
                assert plan_problems(before.position, planned) == []
                after = (await covered.state()).position
                assert abs(after.need_mg) <= abs(before.position.need_mg)
                assert after.need_mg * before.position.need_mg >= 0
                seen += len(planned)
            case "fill" if sent := await covered.ids("sent"):
                cover_id = chance.choice(sent)
                left_e8 = (await covered.state()).position.working[cover_id].left_e8
                await covered.fill(cover_id, chance.choice([0, 1, abs(left_e8) // ONE_E8]))
                await covered.dealings.rows("UPDATE covers SET finished_at_us = 1 WHERE state = 'refused'")
            case "review":
                await covered.book.review()
    assert seen > 5
    await covered.sound()
