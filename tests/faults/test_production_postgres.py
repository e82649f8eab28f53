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

from tests.support.held_lock import holding
from tests.support.node import until
from tests.support.production import LiveTrader
from tests.support.servers import Postgres, Redis
from tests.support.wire import Cut, Trap

from .production_deployment import PATIENCE_S, Deployment, open_deployment


@pytest.fixture(scope="module")
def deployment(
    tmp_path_factory: pytest.TempPathFactory, postgres: Postgres, redis: Redis
) -> Iterator[Deployment]:
    assert postgres.port, "skipped, or failed, where there is none"
    with open_deployment(tmp_path_factory.mktemp("deployment"), redis) as deployment:
        deployment.market.live("STOCKED", stock="100000")
        yield deployment


@pytest.fixture
def trader(deployment: Deployment) -> Iterator[LiveTrader]:
    """A new account; in the end nothing was executed that is not in the book."""
    yield deployment.market.trader()
    deployment.nothing_strange_was_executed()


@pytest.fixture
def key() -> str:
    return f"key-{uuid4().hex}"


# --- The book is locked elsewhere ---------------------------------------------------------------------


def test_a_book_that_stays_locked_is_busy_and_one_key_sent_thrice_conflicts(
    deployment: Deployment, trader: LiveTrader
) -> None:
    """Both at once, as each takes the whole deadline."""
    other = deployment.market.trader()
    books = f"{deployment.book_of(trader)}, {deployment.book_of(other)}"
    url = f"postgresql://bullion@127.0.0.1:{deployment.server.port}/{deployment.database}"
    there = deployment.same_key_tells(trader, "there")
    with holding(url, f"SELECT * FROM books WHERE id IN ({books}) FOR UPDATE"):
        again = deployment.call(trader, "there")
        alone = deployment.call(trader, "alone")
        thrice = [deployment.call(other, "thrice") for _ in range(3)]
        told = deployment.told(trader, alone.result(), "alone")
        codes = Counter(deployment.told(other, each.result(), "thrice") for each in thrice)
    assert told == "booking_busy"
    assert (again.result().status_code, again.result().json()) == (200, there), (
        "a replay is told all the same"
    )
    assert codes["booking_conflict"] >= 1
    assert codes.keys() <= {"booking_conflict", "booking_busy"}
    # Nobody booked them when the lock was let go.
    deployment.ready()
    assert deployment.orders("alone") == deployment.orders("thrice") == []
    deployment.same_key_tells(trader, "alone")
    deployment.same_key_tells(other, "thrice")


# --- Conflicts ----------------------------------------------------------------------------------------


async def competitors(deployment: Deployment, book: str, seized: asyncio.Event, over: asyncio.Event) -> int:
    """Two who take turns at the book's row: whoever waits for it finds it changed. How often they did."""
    url = f"postgresql://bullion@127.0.0.1:{deployment.server.port}/{deployment.database}?application_name=competitor"
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
    deployment: Deployment, trader: LiveTrader, key: str
) -> None:
    """Real serialization failures (40001), as many as the service has tries."""
    book = deployment.book_of(trader)
    deployment.sql(
        f"ALTER DATABASE {deployment.database} SET default_transaction_isolation TO 'repeatable read'"
    )
    try:
        deployment.renew_sessions()
        deployment.ready()

        async def race(key: str) -> tuple[str, int]:
            seized, over = asyncio.Event(), asyncio.Event()
            competing = asyncio.create_task(competitors(deployment, book, seized, over))
            await seized.wait()
            answer = await asyncio.wrap_future(deployment.call(trader, key))
            over.set()
            return deployment.told(trader, answer, key), await competing

        # On a machine that stands still for a moment, the booking may slip in between the two who take turns.
        for each in (key, f"{key}-again", f"{key}-once-more"):
            told, times = asyncio.run(race(each))
            if told != "order":
                break
    finally:
        deployment.sql(f"ALTER DATABASE {deployment.database} RESET default_transaction_isolation")
        deployment.renew_sessions()
    assert told == "booking_conflict"
    assert times >= 5
    deployment.same_key_tells(trader, each)


def test_a_deadlock_that_comes_again_and_again_conflicts(
    deployment: Deployment, trader: LiveTrader, key: str
) -> None:
    """Real deadlocks (40P01): somebody has the stock and wants the book that the booking has."""
    book = deployment.book_of(trader)
    url = f"postgresql://bullion@127.0.0.1:{deployment.server.port}/{deployment.database}"

    async def fight(key: str) -> tuple[str, int]:
        rival, watch = await asyncpg.connect(url), await asyncpg.connect(url)
        await rival.execute("SET deadlock_timeout = '1h'; BEGIN")  # It is never the one that gives way.
        await rival.execute("SELECT * FROM stocks FOR UPDATE; SAVEPOINT before")
        call = asyncio.wrap_future(deployment.call(trader, key, symbol_code="STOCKED"))
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
        return deployment.told(trader, answer, key), times

    deployment.setting("SET deadlock_timeout = '20ms'")
    try:
        until(lambda: deployment.sql("SHOW deadlock_timeout") == "20ms", within_s=PATIENCE_S)
        # On a machine that stands still for a moment, the booking may wait too long for one lock.
        for each in (key, f"{key}-again", f"{key}-once-more"):
            told, times = asyncio.run(fight(each))
            if told != "booking_busy":
                break
    finally:
        deployment.setting("RESET deadlock_timeout")
    assert told == "booking_conflict"
    assert times >= 5
    deployment.same_key_tells(trader, each, symbol_code="STOCKED")


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
    deployment: Deployment, trader: LiveTrader, when: str, symbol: str
) -> None:
    """In the middle of the booking or at its commit, as one statement or with the book locked first."""
    deployment.sql(RAISES)
    try:
        keys = {state: f"{when}-{symbol}-{state}" for state in STATES}
        told = {
            state: deployment.told(trader, trader.place(key, symbol_code=symbol), key)
            for state, key in keys.items()
        }
    finally:
        deployment.sql("DROP FUNCTION raise_by_key CASCADE")
    assert told == STATES
    for key in keys.values():
        assert deployment.orders(key) == []
    for state in ("40001", "53100", "57014"):
        deployment.same_key_tells(trader, keys[state], symbol_code=symbol)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("pg_cancel_backend", {"booking_unavailable"}),
        # Told by the server or noticed as a lost connection, whichever is read first; then it is verified.
        ("pg_terminate_backend", {"booking_unavailable", "booking_not_completed"}),
    ],
)
def test_a_booking_that_the_operator_ends_is_not_booked(
    deployment: Deployment, trader: LiveTrader, key: str, how: str, told: set[str]
) -> None:
    url = f"postgresql://bullion@127.0.0.1:{deployment.server.port}/{deployment.database}"
    ours = "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '-- record_plans%'"
    with holding(url, "LOCK TABLE hedge_requests IN SHARE MODE"):
        call = deployment.call(trader, key)
        until(lambda: deployment.sql(f"SELECT count(*) {ours}") == "1", within_s=PATIENCE_S)
        deployment.sql(f"SELECT {how}(pid) {ours}")
        assert deployment.told(trader, call.result(), key) in told
    deployment.same_key_tells(trader, key)


def test_a_server_that_takes_no_writes_is_unavailable(
    deployment: Deployment, trader: LiveTrader, key: str
) -> None:
    """25006, in sessions that were there before."""
    deployment.setting("SET default_transaction_read_only = on")
    try:
        until(lambda: deployment.sql("SHOW default_transaction_read_only") == "on", within_s=PATIENCE_S)
        until(
            lambda: deployment.told(trader, trader.place(key), key) == "booking_unavailable",
            within_s=PATIENCE_S,
        )
        assert deployment.told(trader, trader.place(key), key) == "booking_unavailable"
    finally:
        deployment.setting("RESET default_transaction_read_only")
    deployment.same_key_tells(trader, key)


def test_sessions_that_the_server_ended_are_no_harm(deployment: Deployment, trader: LiveTrader) -> None:
    for turn in range(5):
        deployment.renew_sessions()
        key = f"ended-{turn}-{uuid4().hex}"
        told = deployment.told(trader, trader.place(key), key)
        # The venue's book is in the same store: the node may have found that out of reach first.
        venue_lost = "production_prerequisites_unmet"
        assert told in ("order", "booking_unavailable", "booking_not_completed", venue_lost)
        deployment.same_key_tells(trader, key)


def test_a_server_that_is_stopped_is_unavailable(
    deployment: Deployment, trader: LiveTrader, key: str
) -> None:
    """At once and after a while, when memory has grown old; a replay cannot be told then either."""
    order = deployment.same_key_tells(trader, "before-the-stop")
    deployment.server.stop()
    try:
        answers = [trader.place(key) for _ in range(3)]
        until(lambda: trader.http.get("/health/ready").status_code == 503, within_s=PATIENCE_S)
        answers += [trader.place(key) for _ in range(3)]
    finally:
        deployment.server.start()
    assert {deployment.told(trader, each, key) for each in answers} <= {
        "booking_unavailable",
        "booking_not_completed",
    }
    assert answers[-1].json()["detail"]["code"] == "booking_unavailable"
    deployment.same_key_tells(trader, key)
    again = trader.place("before-the-stop")
    assert (again.status_code, again.json()) == (200, order)


def test_a_server_that_cannot_be_connected_to_is_unavailable(
    deployment: Deployment, trader: LiveTrader, key: str
) -> None:
    deployment.wire.refusing = True
    deployment.wire.cut_all()
    try:
        assert deployment.told(trader, trader.place(key), key) in (
            "booking_unavailable",
            "booking_outcome_unknown",
        )
        assert deployment.told(trader, trader.place(key), key) == "booking_unavailable"
    finally:
        deployment.wire.refusing = False
    deployment.same_key_tells(trader, key)


# --- The answer is lost -------------------------------------------------------------------------------

WAYS = {
    "one statement": ("GOLD", None),
    "the statement of a transaction": ("STOCKED", None),
    "the commit of a transaction": ("STOCKED", b"COMMIT"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_line_cut_before_the_booking_arrived(
    deployment: Deployment, trader: LiveTrader, key: str, way: str
) -> None:
    symbol, then = WAYS[way]
    trap = deployment.wire.set_trap(Trap(key.encode(), Cut.BEFORE, then))
    told = deployment.told(trader, trader.place(key, symbol_code=symbol), key)
    assert trap.sprung.is_set()
    # Without its commit a transaction is definitely not booked.
    assert told == (
        "booking_unavailable" if way == "the statement of a transaction" else "booking_not_completed"
    )
    deployment.same_key_tells(trader, key, symbol_code=symbol)


@pytest.mark.parametrize("way", ["one statement", "the commit of a transaction"])
def test_a_line_cut_after_the_booking_was_committed(
    deployment: Deployment, trader: LiveTrader, key: str, way: str
) -> None:
    symbol, then = WAYS[way]
    trap = deployment.wire.set_trap(Trap(key.encode(), Cut.AFTER, then))
    answer = trader.place(key, symbol_code=symbol)
    assert trap.sprung.is_set()
    assert deployment.told(trader, answer, key) == "order", "the order, and not a replay"
    assert deployment.same_key_tells(trader, key, symbol_code=symbol)["id"] == answer.json()["id"]


def test_a_booking_that_arrives_after_it_was_told_not_to_have_been_completed_is_not_booked(
    deployment: Deployment, trader: LiveTrader, key: str
) -> None:
    """The service lost its line; the statement is somewhere on its way, and arrives in the end."""
    trap = deployment.wire.set_trap(Trap(key.encode(), Cut.LATER))
    assert deployment.told(trader, trader.place(key), key) == "booking_not_completed"
    trap.let_go()
    assert deployment.orders(key) == []
    deployment.same_key_tells(trader, key)


def test_a_booking_that_arrives_after_the_same_key_was_sent_again_is_not_a_second_one(
    deployment: Deployment, trader: LiveTrader, key: str
) -> None:
    trap = deployment.wire.set_trap(Trap(key.encode(), Cut.LATER))
    assert deployment.told(trader, trader.place(key), key) == "booking_not_completed"
    order = deployment.same_key_tells(trader, key)
    trap.let_go()
    assert deployment.orders(key) == [[order["id"], "open"]]
    assert trader.net() == "1.0000"


@pytest.mark.parametrize("cut", [Cut.BEFORE, Cut.AFTER])
def test_an_outcome_that_cannot_be_read_is_unknown(
    deployment: Deployment, trader: LiveTrader, key: str, cut: Cut
) -> None:
    """The line is cut, and nobody can connect to verify."""
    deployment.wire.set_trap(Trap(key.encode(), cut, refuses=True))
    try:
        answer = trader.place(key)
    finally:
        deployment.wire.refusing = False
    assert deployment.told(trader, answer, key) == "booking_outcome_unknown"
    assert len(deployment.orders(key)) == (cut is Cut.AFTER)
    deployment.same_key_tells(trader, key)


# --- Commits that are parked --------------------------------------------------------------------------


@contextlib.contextmanager
def parked(deployment: Deployment) -> Iterator[None]:
    deployment.park()
    try:
        yield
    finally:
        deployment.unpark()


@pytest.mark.parametrize("symbol", ["GOLD", "STOCKED"])
def test_a_parked_commit_whose_session_ends_is_committed_and_is_the_answer(
    deployment: Deployment, trader: LiveTrader, key: str, symbol: str
) -> None:
    with parked(deployment):
        call = deployment.call(trader, key, symbol_code=symbol)
        until(lambda: deployment.parked_commits(deployment.book_of(trader)), within_s=PATIENCE_S)
        assert deployment.orders(key) == [], "absent, and yet it cannot be undone any more"
        deployment.terminate(*deployment.parked_commits(deployment.book_of(trader)))
        until(lambda: deployment.orders(key) != [], within_s=PATIENCE_S)
    answer = call.result()
    assert deployment.told(trader, answer, key) in ("order", "booking_outcome_unknown")
    order = deployment.same_key_tells(trader, key, symbol_code=symbol)
    assert deployment.orders(key) == [[order["id"], "open"]]


def test_a_commit_that_stays_parked_is_unknown_until_it_is_not(
    deployment: Deployment, trader: LiveTrader, key: str
) -> None:
    """Past the deadline the book's lock is still with it: whether it will be there cannot be told."""
    with parked(deployment):
        first = deployment.call(trader, key)
        until(lambda: deployment.parked_commits(deployment.book_of(trader)), within_s=PATIENCE_S)
        assert deployment.told(trader, first.result(), key) == "booking_outcome_unknown"
        assert deployment.orders(key) == []
        # Not busy: that would say that nothing was booked, and it will be there without being sent again.
        assert deployment.told(trader, trader.place(key), key) == "booking_outcome_unknown"
    until(lambda: deployment.orders(key) != [], within_s=PATIENCE_S)
    order = deployment.same_key_tells(trader, key)
    assert deployment.orders(key) == [[order["id"], "open"]]


def test_a_server_killed_with_parked_commits_has_them_or_not_and_the_key_tells(
    deployment: Deployment, trader: LiveTrader, key: str
) -> None:
    """Immediate shutdown: no session says good-bye, and the server recovers from its log."""
    deployment.park()
    call = deployment.call(trader, key)
    until(lambda: deployment.parked_commits(deployment.book_of(trader)), within_s=PATIENCE_S)
    deployment.server.stop(signal.SIGQUIT)
    answer = call.result()
    deployment.server.start()
    deployment.unpark()
    assert deployment.told(trader, answer, key) == "booking_outcome_unknown"
    deployment.same_key_tells(trader, key)
