"""The simulated venue's book in the store: each id once, decided once, whoever asks and however often."""

import asyncio
from collections import Counter

import pytest

from bullion.hedge.simulated import Mode, VenueBehaviour
from bullion.hedge.venue import HedgeRequest, Tradeability
from bullion.records.hedges import Execution
from bullion.store.engine import Engine, Transaction, one_row
from bullion.store.postgres import PostgresEngine
from bullion.store.records import RecordStore
from bullion.store.venue_book import StoredVenueBook
from tests.booking.conftest import postgres_engine  # noqa: F401 - fixtures
from tests.booking.fixtures import create_books, rows
from tests.support.venues import behave, venue_book_of

pytestmark = pytest.mark.anyio


def request(order_id: str = "a", broker: str = "main") -> HedgeRequest:
    return HedgeRequest(order_id, broker, "GOLD", "buy", 10_000, 7_000_000, "gold", 999)


@pytest.fixture
async def book(engine: Engine) -> StoredVenueBook:
    await create_books(engine, 1)
    return venue_book_of(engine)


async def test_a_venue_that_nobody_has_told_anything_fills_at_once(book: StoredVenueBook) -> None:
    assert await book.behaviour("main") == VenueBehaviour("main", Mode.FILL, 0, {})
    assert await book.behaviour("unheard-of") == VenueBehaviour("unheard-of")


async def test_it_behaves_as_it_was_told_last(book: StoredVenueBook, engine: Engine) -> None:
    words = {"GOLD": Tradeability.SUSPENDED, "SILVER": Tradeability.UNKNOWN}
    for mode in Mode:
        await behave(engine, mode, delay_ms=17, instruments=words)
        assert await book.behaviour("main") == VenueBehaviour("main", mode, 17, words)
    await behave(engine, Mode.FILL)
    assert await book.behaviour("main") == VenueBehaviour("main")


async def test_what_was_told_on_another_node_holds_for_the_next_call(
    book: StoredVenueBook, other_engine: Engine
) -> None:
    for mode in (Mode.DOWN, Mode.HOLD):
        await behave(other_engine, mode)
        assert (await book.behaviour("main")).mode is mode


@pytest.mark.usefixtures("book")
async def test_a_conduct_is_asked_for_once_in_a_version_of_the_catalogue(
    engine: Engine, other_engine: Engine
) -> None:
    version = 7
    knowing = venue_book_of(engine, lambda: version)
    assert (await knowing.behaviour("main")).mode is Mode.FILL
    await behave(other_engine, Mode.HOLD)
    assert (await knowing.behaviour("main")).mode is Mode.FILL
    version = 8
    assert (await knowing.behaviour("main")).mode is Mode.HOLD
    assert await knowing.behaviour("another") == VenueBehaviour("another")


@pytest.mark.usefixtures("book")
async def test_a_catalogue_that_moves_during_the_question_is_asked_for_again(engine: Engine) -> None:
    version = 7
    knowing = venue_book_of(engine, lambda: version)
    asked = asyncio.create_task(knowing.behaviour("main"))
    await asyncio.sleep(0)
    version = 8
    assert (await asked).mode is Mode.FILL
    await behave(engine, Mode.DOWN)
    assert (await knowing.behaviour("main")).mode is Mode.DOWN


async def test_an_order_is_taken_as_it_is_and_found_again(book: StoredVenueBook) -> None:
    assert await book.find("a") is None
    taken = await book.take(request(), 5, 9, None)
    assert (taken.order_id, taken.due_at_us, taken.submissions) == ("a", 9, 1)
    assert (taken.outcome, taken.execution_id) == (None, None)
    assert await book.find("a") == taken
    assert await book.find("b") is None


@pytest.mark.parametrize("outcome", ["confirmed", "refused"])
async def test_one_that_is_decided_as_it_is_taken_has_its_execution(
    book: StoredVenueBook, engine: Engine, outcome: str
) -> None:
    taken = await book.take(request(), 5, 9, outcome)
    assert taken.outcome == outcome
    assert taken.execution_id
    (row,) = await rows(engine, "SELECT * FROM venue_orders")
    assert (row["broker"], row["instrument"], row["trade_type"], row["quantity_e4"]) == (
        "main",
        "GOLD",
        "buy",
        10_000,
    )
    assert row["executed_at_us"] == 5


@pytest.mark.parametrize("first", [None, "confirmed", "refused"])
@pytest.mark.parametrize("then", [None, "confirmed", "refused"])
async def test_sent_again_it_stays_as_it_is_but_for_the_count(
    book: StoredVenueBook, first: str | None, then: str | None
) -> None:
    before = await book.take(request(), 5, 9, first)
    for number in (2, 3):
        again = await book.take(request(), 50, 90, then)
        assert again.submissions == number
        assert (again.due_at_us, again.outcome, again.execution_id) == (
            9,
            before.outcome,
            before.execution_id,
        )


async def test_the_same_id_at_once_is_taken_once_by_whichever_node(
    book: StoredVenueBook, other_engine: Engine
) -> None:
    books = [book, venue_book_of(other_engine)]
    done = await asyncio.gather(
        *(
            books[number % 2].take(request(order_id), number, 9, "confirmed")
            for number in range(20)
            for order_id in ("a", "b")
        )
    )
    for order_id in ("a", "b"):
        own = [taken for taken in done if taken.order_id == order_id]
        assert Counter(taken.submissions for taken in own) == Counter(range(1, 21))
        assert len({taken.execution_id for taken in own}) == 1


async def test_many_ids_at_once_are_each_taken(book: StoredVenueBook) -> None:
    done = await asyncio.gather(*(book.take(request(f"o{number}"), 5, 9, "refused") for number in range(150)))
    assert [taken.order_id for taken in done] == [f"o{number}" for number in range(150)]
    assert {taken.submissions for taken in done} == {1}
    assert len({taken.execution_id for taken in done}) == 150


async def test_on_postgresql_only_the_commit_of_submissions_does_not_wait_for_the_disk(
    postgres_engine: PostgresEngine,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(
        postgres_engine._queries, "waits", "SELECT current_setting('synchronous_commit') AS s"
    )

    async def body(transaction: Transaction) -> tuple[str, str]:
        before = await one_row(transaction, "waits")
        await transaction.all("take_venue_orders", submissions)
        after = await one_row(transaction, "waits")
        return before["s"], after["s"]

    submissions = '[["a", "main", "GOLD", "buy", 10000, 1, "confirmed", "e", 1, null]]'
    assert await postgres_engine.write("test", body) == ("on", "off")
    row = await postgres_engine.write("test", lambda transaction: one_row(transaction, "waits"))
    assert row["s"] == "on"
    assert await venue_book_of(postgres_engine).find("a") is not None


async def test_an_order_is_decided_once_at_the_most(book: StoredVenueBook, other_engine: Engine) -> None:
    await book.take(request(), 5, 9, None)
    books = [book, venue_book_of(other_engine)]
    done = await asyncio.gather(
        *(
            books[number % 2].decide("a", "confirmed" if number % 3 else "refused", 10 + number)
            for number in range(12)
        )
    )
    assert len(set(done)) == 1
    assert done[0].execution_id
    assert await book.find("a") == done[0]
    assert (await book.decide("a", "refused" if done[0].outcome == "confirmed" else "confirmed", 99)) == done[
        0
    ]


async def test_one_that_was_decided_as_it_was_taken_is_not_decided_again(book: StoredVenueBook) -> None:
    taken = await book.take(request(), 5, 9, "refused")
    assert await book.decide("a", "confirmed", 10) == taken


# --- The list of executions ---------------------------------------------------------------------------


async def listed(
    book: StoredVenueBook, after_no: int = 0, limit: int = 100, broker: str = "main"
) -> list[str]:
    return [each.order_id for each in await book.executions(broker, after_no, limit)]


async def test_executions_are_listed_in_the_order_of_their_numbers(book: StoredVenueBook) -> None:
    for order_id, outcome in (("d", "confirmed"), ("c", "refused"), ("b", "confirmed"), ("a", None)):
        await book.take(request(order_id), 5, 9, outcome)
    await book.take(request("e", "other"), 5, 9, "confirmed")
    first, second = await book.executions("main", 0, 100)
    assert (first.order_id, second.order_id) == ("d", "b")
    assert int(first.cursor) < int(second.cursor)
    assert (first.instrument, first.trade_type, first.quantity_e4) == ("GOLD", "buy", 10_000)
    assert first.executed_at_us == 5
    assert await listed(book, limit=1) == ["d"]
    assert await listed(book, int(first.cursor)) == ["b"]
    assert await listed(book, int(second.cursor)) == []
    assert await listed(book, broker="other") == ["e"]
    assert await listed(book, broker="nobody") == []


async def test_one_that_is_sent_again_keeps_its_number(book: StoredVenueBook) -> None:
    await book.take(request("a"), 5, 9, "confirmed")
    before = await book.executions("main", 0, 100)
    await book.take(request("a"), 5, 9, "confirmed")
    assert await book.executions("main", 0, 100) == before


async def test_one_that_is_decided_later_comes_behind_what_was_listed(book: StoredVenueBook) -> None:
    await book.take(request("a"), 5, 9, None)
    await book.take(request("b"), 5, 9, "confirmed")
    (first,) = await book.executions("main", 0, 100)
    await book.decide("a", "confirmed", 10)
    assert await listed(book, int(first.cursor)) == ["a"]
    assert await listed(book, int(first.cursor)) == ["a"], "its number stays"


async def test_what_a_node_of_the_version_before_wrote_is_listed_too(
    book: StoredVenueBook, engine: Engine
) -> None:
    await book.take(request("a"), 5, 9, "confirmed")
    for number in range(3):
        await rows(
            engine,
            f"""INSERT INTO venue_orders (
                order_id, broker, instrument, trade_type, quantity_e4, submissions, due_at_us, outcome,
                execution_id, executed_at_us
            ) VALUES ('old {number}', 'main', 'GOLD', 'buy', 1, 1, 1, 'confirmed', 'E{number}', {number})""",
        )
    assert await listed(book) == ["a", "old 0", "old 1", "old 2"]
    assert await listed(book, limit=3) == ["a", "old 0", "old 1"]


async def test_what_the_desk_executes_is_not_listed(book: StoredVenueBook, engine: Engine) -> None:
    """Our own request is answered in the same transaction."""
    await book.take(request("held"), 5, 9, None)
    for order_id in ("held", "new"):
        wanted = Execution(order_id, "GOLD", "buy", 10_000, "confirmed", f"DESK-{order_id}", 7)
        await RecordStore(engine).write(
            "execute",
            lambda records, wanted=wanted: records.execute("main", wanted),  # type: ignore[misc]
        )
    assert await listed(book) == []
