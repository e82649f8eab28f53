"""Production orders on PostgreSQL while things break: what an answer claims is true, and the same key tells.

Over HTTP against a real node, whose server is its own: it is stopped, parked and made to fail here.
"""

import asyncio
import contextlib
import signal
from collections import Counter
from collections.abc import Iterator
from uuid import uuid4

import asyncpg
import pytest

from tests.support.hold import holding
from tests.support.node import until
from tests.support.production import LiveTrader
from tests.support.servers import Postgres, Redis
from tests.support.wire import Cut, Trap

from .production_room import PATIENCE_S, Room, open_room


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory, postgres: Postgres, redis: Redis) -> Iterator[Room]:
    assert postgres.port, "skipped, or failed, where there is none"
    with open_room(tmp_path_factory.mktemp("room"), redis) as room:
        room.market.live("STOCKED", stock="100000")
        yield room


@pytest.fixture
def trader(room: Room) -> Iterator[LiveTrader]:
    """A new account; in the end nothing was executed that is not in the book."""
    yield room.market.trader()
    room.nothing_strange_was_executed()


@pytest.fixture
def key() -> str:
    return f"key-{uuid4().hex}"


# --- The book is locked elsewhere ---------------------------------------------------------------------


def test_a_book_that_stays_locked_is_busy_and_one_key_sent_thrice_conflicts(
    room: Room, trader: LiveTrader
) -> None:
    """Both at once, as each takes the whole deadline."""
    other = room.market.trader()
    books = f"{room.book_of(trader)}, {room.book_of(other)}"
    url = f"postgresql://bullion@127.0.0.1:{room.server.port}/{room.database}"
    there = room.same_key_tells(trader, "there")
    with holding(url, f"SELECT * FROM books WHERE id IN ({books}) FOR UPDATE"):
        again = room.call(trader, "there")
        alone = room.call(trader, "alone")
        thrice = [room.call(other, "thrice") for _ in range(3)]
        told = room.told(trader, alone.result(), "alone")
        codes = Counter(room.told(other, each.result(), "thrice") for each in thrice)
    assert told == "booking_busy"
    assert (again.result().status_code, again.result().json()) == (200, there), (
        "a replay is told all the same"
    )
    assert codes["booking_conflict"] >= 1
    assert codes.keys() <= {"booking_conflict", "booking_busy"}
    # Nobody booked them when the lock was let go.
    room.ready()
    assert room.orders("alone") == room.orders("thrice") == []
    room.same_key_tells(trader, "alone")
    room.same_key_tells(other, "thrice")


# --- Conflicts ----------------------------------------------------------------------------------------


async def competitors(room: Room, book: str, seized: asyncio.Event, over: asyncio.Event) -> int:
    """Two who take turns at the book's row: whoever waits for it finds it changed. How often they did."""
    url = f"postgresql://bullion@127.0.0.1:{room.server.port}/{room.database}?application_name=competitor"
    watch, *pair = [await asyncpg.connect(url) for _ in range(3)]

    async def blocked(name: str) -> bool:
        found = await watch.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = $1",
            name,
        )
        return bool(found)

    async def seize(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        await connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        await connection.execute(f"UPDATE books SET version = version + 1 WHERE id = {book}")

    times = 0
    await seize(pair[0])
    seized.set()
    while not over.is_set():
        if await blocked("bullion record_locked"):
            following = asyncio.create_task(seize(pair[1]))
            while not await blocked("competitor"):
                await asyncio.sleep(0.001)
            await pair[0].execute("COMMIT")
            await following
            pair.reverse()
            times += 1
        await asyncio.sleep(0.001)
    for each in (*pair, watch):
        each.terminate()
    return times


def test_a_book_that_others_change_again_and_again_conflicts(
    room: Room, trader: LiveTrader, key: str
) -> None:
    """Real serialization failures (40001), as many as the service has tries."""
    book = room.book_of(trader)
    room.sql(f"ALTER DATABASE {room.database} SET default_transaction_isolation TO 'repeatable read'")
    try:
        room.renew_sessions()
        room.ready()

        async def race(key: str) -> tuple[str, int]:
            seized, over = asyncio.Event(), asyncio.Event()
            competing = asyncio.create_task(competitors(room, book, seized, over))
            await seized.wait()
            answer = await asyncio.wrap_future(room.call(trader, key))
            over.set()
            return room.told(trader, answer, key), await competing

        # On a machine that stands still for a moment, the booking may slip in between the two who take turns.
        for each in (key, f"{key}-again", f"{key}-once-more"):
            told, times = asyncio.run(race(each))
            if told != "order":
                break
    finally:
        room.sql(f"ALTER DATABASE {room.database} RESET default_transaction_isolation")
        room.renew_sessions()
    assert told == "booking_conflict"
    assert times >= 5
    room.same_key_tells(trader, each)


def test_a_deadlock_that_comes_again_and_again_conflicts(room: Room, trader: LiveTrader, key: str) -> None:
    """Real deadlocks (40P01): somebody has the stock and wants the book that the booking has."""
    book = room.book_of(trader)
    url = f"postgresql://bullion@127.0.0.1:{room.server.port}/{room.database}"

    async def fight(key: str) -> tuple[str, int]:
        rival, watch = await asyncpg.connect(url), await asyncpg.connect(url)
        await rival.execute("SET deadlock_timeout = '1h'; BEGIN")  # It is never the one that gives way.
        await rival.execute("SELECT * FROM stocks FOR UPDATE; SAVEPOINT before")
        call = asyncio.wrap_future(room.call(trader, key, symbol_code="STOCKED"))
        times = 0
        while not call.done():
            waiting = await watch.fetchval(
                "SELECT count(*) FROM pg_stat_activity "
                "WHERE wait_event_type = 'Lock' AND application_name = 'bullion record_locked'"
            )
            if waiting:
                await rival.execute(f"SELECT * FROM books WHERE id = {book} FOR UPDATE")
                times += 1
                await rival.execute("ROLLBACK TO before")
            await asyncio.sleep(0.001)
        answer = await call
        rival.terminate()
        watch.terminate()
        return room.told(trader, answer, key), times

    room.setting("SET deadlock_timeout = '20ms'")
    try:
        until(lambda: room.sql("SHOW deadlock_timeout") == "20ms", within_s=PATIENCE_S)
        # On a machine that stands still for a moment, the booking may wait too long for one lock.
        for each in (key, f"{key}-again", f"{key}-once-more"):
            told, times = asyncio.run(fight(each))
            if told != "booking_busy":
                break
    finally:
        room.setting("RESET deadlock_timeout")
    assert told == "booking_conflict"
    assert times >= 5
    room.same_key_tells(trader, each, symbol_code="STOCKED")


# --- What the server itself says ----------------------------------------------------------------------

STATES = {
    "25006": "booking_unavailable",
    "40001": "booking_conflict",
    "40P01": "booking_conflict",
    "53100": "booking_unavailable",
    "53200": "booking_unavailable",
    "53300": "booking_unavailable",
    "53400": "booking_unavailable",
    "55P03": "booking_busy",
    "57014": "booking_unavailable",
    "57P01": "booking_unavailable",
    "57P03": "booking_unavailable",
    "58030": "booking_unavailable",
    "23514": "booking_unavailable",
}
RAISES = """
CREATE FUNCTION raise_by_key() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF starts_with(NEW.idempotency_key, TG_ARGV[0]) THEN
        RAISE EXCEPTION USING ERRCODE = right(NEW.idempotency_key, 5), MESSAGE = 'as the test wants it';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER raising BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION raise_by_key('now-');
CREATE CONSTRAINT TRIGGER raising_late AFTER INSERT ON orders DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION raise_by_key('commit-')
"""


@pytest.mark.parametrize("when", ["now", "commit"])
@pytest.mark.parametrize("symbol", ["GOLD", "STOCKED"])
def test_an_error_that_the_server_told_is_a_definite_abort(
    room: Room, trader: LiveTrader, when: str, symbol: str
) -> None:
    """In the middle of the booking or at its commit, as one statement or with the book locked first."""
    room.sql(RAISES)
    try:
        keys = {state: f"{when}-{symbol}-{state}" for state in STATES}
        told = {
            state: room.told(trader, trader.place(key, symbol_code=symbol), key)
            for state, key in keys.items()
        }
    finally:
        room.sql("DROP FUNCTION raise_by_key CASCADE")
    assert told == STATES
    for key in keys.values():
        assert room.orders(key) == []
    for state in ("40001", "53100", "57014"):
        room.same_key_tells(trader, keys[state], symbol_code=symbol)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("pg_cancel_backend", {"booking_unavailable"}),
        # Told by the server or noticed as a lost connection, whichever is read first; then it is verified.
        ("pg_terminate_backend", {"booking_unavailable", "booking_not_completed"}),
    ],
)
def test_a_booking_that_the_operator_ends_is_not_booked(
    room: Room, trader: LiveTrader, key: str, how: str, told: set[str]
) -> None:
    url = f"postgresql://bullion@127.0.0.1:{room.server.port}/{room.database}"
    ours = "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%A batch of bookings%'"
    with holding(url, "LOCK TABLE hedge_requests IN SHARE MODE"):
        call = room.call(trader, key)
        until(lambda: room.sql(f"SELECT count(*) {ours}") == "1", within_s=PATIENCE_S)
        room.sql(f"SELECT {how}(pid) {ours}")
        assert room.told(trader, call.result(), key) in told
    room.same_key_tells(trader, key)


def test_a_server_that_takes_no_writes_is_unavailable(room: Room, trader: LiveTrader, key: str) -> None:
    """25006, in sessions that were there before."""
    room.setting("SET default_transaction_read_only = on")
    try:
        until(lambda: room.sql("SHOW default_transaction_read_only") == "on", within_s=PATIENCE_S)
        until(lambda: room.told(trader, trader.place(key), key) == "booking_unavailable", within_s=PATIENCE_S)
        assert room.told(trader, trader.place(key), key) == "booking_unavailable"
    finally:
        room.setting("RESET default_transaction_read_only")
    room.same_key_tells(trader, key)


def test_sessions_that_the_server_ended_are_no_harm(room: Room, trader: LiveTrader) -> None:
    for turn in range(5):
        room.renew_sessions()
        key = f"ended-{turn}-{uuid4().hex}"
        told = room.told(trader, trader.place(key), key)
        # The venue's book is in the same store: the node may have found that out of reach first.
        venue_lost = "production_prerequisites_unmet"
        assert told in ("order", "booking_unavailable", "booking_not_completed", venue_lost)
        room.same_key_tells(trader, key)


def test_a_server_that_is_stopped_is_unavailable(room: Room, trader: LiveTrader, key: str) -> None:
    """At once and after a while, when memory has grown old; a replay cannot be told then either."""
    order = room.same_key_tells(trader, "before-the-stop")
    room.server.stop()
    try:
        answers = [trader.place(key) for _ in range(3)]
        until(lambda: trader.http.get("/health/ready").status_code == 503, within_s=PATIENCE_S)
        answers += [trader.place(key) for _ in range(3)]
    finally:
        room.server.start()
    assert {room.told(trader, each, key) for each in answers} <= {
        "booking_unavailable",
        "booking_not_completed",
    }
    assert answers[-1].json()["detail"]["code"] == "booking_unavailable"
    room.same_key_tells(trader, key)
    again = trader.place("before-the-stop")
    assert (again.status_code, again.json()) == (200, order)


def test_a_server_that_cannot_be_connected_to_is_unavailable(
    room: Room, trader: LiveTrader, key: str
) -> None:
    room.wire.refusing = True
    room.wire.cut_all()
    try:
        assert room.told(trader, trader.place(key), key) in ("booking_unavailable", "booking_outcome_unknown")
        assert room.told(trader, trader.place(key), key) == "booking_unavailable"
    finally:
        room.wire.refusing = False
    room.same_key_tells(trader, key)


# --- The answer is lost -------------------------------------------------------------------------------

WAYS = {
    "one statement": ("GOLD", None),
    "the statement of a transaction": ("STOCKED", None),
    "the commit of a transaction": ("STOCKED", b"COMMIT"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_line_cut_before_the_booking_arrived(room: Room, trader: LiveTrader, key: str, way: str) -> None:
    symbol, then = WAYS[way]
    trap = room.wire.set_trap(Trap(key.encode(), Cut.BEFORE, then))
    told = room.told(trader, trader.place(key, symbol_code=symbol), key)
    assert trap.sprung.is_set()
    # Without its commit a transaction is definitely not booked.
    assert told == (
        "booking_unavailable" if way == "the statement of a transaction" else "booking_not_completed"
    )
    room.same_key_tells(trader, key, symbol_code=symbol)


@pytest.mark.parametrize("way", ["one statement", "the commit of a transaction"])
def test_a_line_cut_after_the_booking_was_committed(
    room: Room, trader: LiveTrader, key: str, way: str
) -> None:
    symbol, then = WAYS[way]
    trap = room.wire.set_trap(Trap(key.encode(), Cut.AFTER, then))
    answer = trader.place(key, symbol_code=symbol)
    assert trap.sprung.is_set()
    assert room.told(trader, answer, key) == "order", "the order, and not a replay"
    assert room.same_key_tells(trader, key, symbol_code=symbol)["id"] == answer.json()["id"]


def test_a_booking_that_arrives_after_it_was_told_not_to_have_been_completed_is_not_booked(
    room: Room, trader: LiveTrader, key: str
) -> None:
    """The service lost its line; the statement is somewhere on its way, and arrives in the end."""
    trap = room.wire.set_trap(Trap(key.encode(), Cut.LATER))
    assert room.told(trader, trader.place(key), key) == "booking_not_completed"
    trap.let_go()
    assert room.orders(key) == []
    room.same_key_tells(trader, key)


def test_a_booking_that_arrives_after_the_same_key_was_sent_again_is_not_a_second_one(
    room: Room, trader: LiveTrader, key: str
) -> None:
    trap = room.wire.set_trap(Trap(key.encode(), Cut.LATER))
    assert room.told(trader, trader.place(key), key) == "booking_not_completed"
    order = room.same_key_tells(trader, key)
    trap.let_go()
    assert room.orders(key) == [[order["id"], "open"]]
    assert trader.net() == "1.0000"


@pytest.mark.parametrize("cut", [Cut.BEFORE, Cut.AFTER])
def test_an_outcome_that_cannot_be_read_is_unknown(
    room: Room, trader: LiveTrader, key: str, cut: Cut
) -> None:
    """The line is cut, and nobody can connect to verify."""
    room.wire.set_trap(Trap(key.encode(), cut, refuses=True))
    try:
        answer = trader.place(key)
    finally:
        room.wire.refusing = False
    assert room.told(trader, answer, key) == "booking_outcome_unknown"
    assert len(room.orders(key)) == (cut is Cut.AFTER)
    room.same_key_tells(trader, key)


# --- Commits that are parked --------------------------------------------------------------------------


@contextlib.contextmanager
def parked(room: Room) -> Iterator[None]:
    room.park()
    try:
        yield
    finally:
        room.unpark()


@pytest.mark.parametrize("symbol", ["GOLD", "STOCKED"])
def test_a_parked_commit_whose_session_ends_is_committed_and_is_the_answer(
    room: Room, trader: LiveTrader, key: str, symbol: str
) -> None:
    with parked(room):
        call = room.call(trader, key, symbol_code=symbol)
        until(lambda: room.parked_commits(room.book_of(trader)), within_s=PATIENCE_S)
        assert room.orders(key) == [], "absent, and yet it cannot be undone any more"
        room.terminate(*room.parked_commits(room.book_of(trader)))
        until(lambda: room.orders(key) != [], within_s=PATIENCE_S)
    answer = call.result()
    assert room.told(trader, answer, key) in ("order", "booking_outcome_unknown")
    order = room.same_key_tells(trader, key, symbol_code=symbol)
    assert room.orders(key) == [[order["id"], "open"]]


def test_a_commit_that_stays_parked_is_unknown_until_it_is_not(
    room: Room, trader: LiveTrader, key: str
) -> None:
    """Past the deadline the book's lock is still with it: whether it will be there cannot be told."""
    with parked(room):
        first = room.call(trader, key)
        until(lambda: room.parked_commits(room.book_of(trader)), within_s=PATIENCE_S)
        assert room.told(trader, first.result(), key) == "booking_outcome_unknown"
        assert room.orders(key) == []
        # Not busy: that would say that nothing was booked, and it will be there without being sent again.
        assert room.told(trader, trader.place(key), key) == "booking_outcome_unknown"
    until(lambda: room.orders(key) != [], within_s=PATIENCE_S)
    order = room.same_key_tells(trader, key)
    assert room.orders(key) == [[order["id"], "open"]]


def test_a_server_killed_with_parked_commits_has_them_or_not_and_the_key_tells(
    room: Room, trader: LiveTrader, key: str
) -> None:
    """Immediate shutdown: no session says good-bye, and the server recovers from its log."""
    room.park()
    call = room.call(trader, key)
    until(lambda: room.parked_commits(room.book_of(trader)), within_s=PATIENCE_S)
    room.server.stop(signal.SIGQUIT)
    answer = call.result()
    room.server.start()
    room.unpark()
    assert room.told(trader, answer, key) == "booking_outcome_unknown"
    room.same_key_tells(trader, key)
