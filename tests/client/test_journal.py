"""The journal: on the disk before the first try, shared by threads and processes, and never another's."""

import fcntl
import json
import os
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

from bullion_client import Environment, Journal, LimitExceeded, NotPlaced, OutcomeUnknown, PriceMoved
from bullion_client.file_lock import locked
from tests.client.calls import INTENT, LIVE_KEY, SECRET, TEST_KEY
from tests.client.scripted_network import START, TEST_ORDER, World, answer, caller, placed, refusal

ME: dict[str, Any] = {
    "login_id": "aurum",
    "firm_name": None,
    "environment": "test",
    "key_id": "k7",
    "key_name": "till",
    "scopes": [],
    "production_trading_available": False,
}
TAKEN = answer(201, TEST_ORDER)
LOST = httpx.ReadTimeout("")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "orders.journal"


@pytest.fixture
def journal(path: Path) -> Journal:
    return Journal(path, account="aurum")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


# --- By a client ------------------------------------------------------------------------------------------


def test_an_order_is_on_the_disk_before_it_is_sent(journal: Journal, path: Path) -> None:
    def look(request: httpx.Request) -> httpx.Response:
        (intent,) = journal.unsettled()
        assert intent.idempotency_key == request.headers["Idempotency-Key"]
        assert intent.body() == request.content
        return TAKEN

    placed(World(look), TEST_KEY, journal=journal)
    assert journal.unsettled() == ()
    head, made, settled = lines(path)
    assert head == {"journal": 1, "environment": "test", "account": "aurum"}
    assert (made["event"], made["quantity"]) == ("made", "5")
    assert (settled["outcome"], settled["order_id"]) == ("order", TEST_ORDER["id"])


def test_it_is_synced_before_the_order_is_sent(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    real = os.fsync

    def sync(number: int) -> None:
        real(number)
        synced.append(number)

    monkeypatch.setattr(os, "fsync", sync)
    at_send: list[int] = []

    def look(request: httpx.Request) -> httpx.Response:
        at_send.append(len(synced))
        return TAKEN

    placed(World(look), TEST_KEY, journal=journal)
    assert at_send == [3]  # The file with its head, its folder, and the file with the order.


def test_nothing_is_sent_when_it_cannot_be_written(tmp_path: Path) -> None:
    world = World(TAKEN)
    with pytest.raises(OSError, match="No such file"):
        placed(world, TEST_KEY, journal=Journal(tmp_path / "nowhere" / "j", account="aurum"))
    assert world.sent == []


def test_an_order_is_returned_even_if_its_end_cannot_be_written(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Journal, "settle", fail)
    assert placed(World(TAKEN), TEST_KEY, journal=journal).id == TEST_ORDER["id"]
    assert "the journal failed" in caplog.text
    assert len(journal.unsettled()) == 1


@pytest.mark.parametrize(
    ("outcomes", "error", "outcome"),
    [
        ([refusal(400, "limit_exceeded")], LimitExceeded, "refused"),
        ([LOST, refusal(409, "price_moved")], PriceMoved, "refused"),
        ([refusal(429, "rate_limited", retry_after=99)], NotPlaced, "not_placed"),
        ([httpx.ConnectError("refused")], NotPlaced, "not_placed"),
    ],
    ids=["refused", "moved", "budget", "unreachable"],
)
def test_what_is_known_is_settled(
    journal: Journal, path: Path, outcomes: list[Any], error: type[Exception], outcome: str
) -> None:
    with pytest.raises(error):
        placed(World(*outcomes), TEST_KEY, journal=journal)
    assert journal.unsettled() == ()
    assert lines(path)[-1]["outcome"] == outcome


def test_what_is_not_known_stays_and_is_settled_when_it_is_resumed(journal: Journal, path: Path) -> None:
    world = World(LOST)
    with pytest.raises(OutcomeUnknown):
        placed(world, TEST_KEY, journal=journal)
    (intent,) = Journal(path).unsettled()
    assert {intent.idempotency_key} == world.keys
    assert (intent.account, intent.quantity, intent.made_at) == ("aurum", Decimal(5), START)
    assert intent.unanswered_until is not None
    later = World(answer(200, TEST_ORDER, Idempotent_Replayed="true"))
    order = later.run(caller(TEST_KEY, journal=Journal(path, account="aurum"))._resume(intent, None))
    assert (order.id, later.keys, later.bodies) == (TEST_ORDER["id"], world.keys, world.bodies)
    assert Journal(path).unsettled() == ()


def test_placed_again_under_the_same_key_it_is_still_in_doubt(journal: Journal) -> None:
    """The lost try may be booked after the refusal of the second one."""

    def place(world: World) -> Any:
        client = caller(TEST_KEY, journal=journal)
        return world.run(client._place("GOLD", "buy", 5, None, None, "mine", 0))

    with pytest.raises(OutcomeUnknown):
        place(World(LOST))
    early = World(refusal(400, "limit_exceeded"))
    with pytest.raises(OutcomeUnknown):
        place(early)
    (intent,) = journal.unsettled()
    assert intent.idempotency_key == "mine"
    late = World(refusal(400, "limit_exceeded"))
    late.seconds += 600
    with pytest.raises(LimitExceeded):
        place(late)
    assert journal.unsettled() == ()


def test_an_order_that_was_not_placed_can_be_resumed_and_is_open_again(journal: Journal) -> None:
    with pytest.raises(NotPlaced) as caught:
        placed(World(refusal(429, "rate_limited", retry_after=99)), TEST_KEY, journal=journal)
    with pytest.raises(OutcomeUnknown):
        World(LOST).run(caller(TEST_KEY, journal=journal)._resume(caught.value.intent, None))
    assert [intent.idempotency_key for intent in journal.unsettled()] == [caught.value.intent.idempotency_key]


def test_no_secret_is_in_it_and_only_its_owner_may_read_it(journal: Journal, path: Path) -> None:
    with pytest.raises(OutcomeUnknown):
        placed(World(LOST), TEST_KEY, journal=journal)
    assert SECRET not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


# --- Whose it is --------------------------------------------------------------------------------------------


def test_the_service_is_asked_once_whose_the_key_is(path: Path) -> None:
    client = caller(TEST_KEY, journal=Journal(path))
    world = World(answer(200, ME), TAKEN)
    for _ in range(3):
        world.run(client._place("GOLD", "buy", 5, None, None, None, None))
    assert [request.url.path.rpartition("/")[2] for request in world.sent] == ["me", *["orders"] * 3]


def test_without_an_answer_whose_it_is_nothing_is_sent(path: Path) -> None:
    for refused, kind in (
        (httpx.ReadTimeout(""), NotPlaced),
        (refusal(503, "service_unavailable"), NotPlaced),
    ):
        world = World(refused)
        with pytest.raises(kind) as caught:
            world.run(
                caller(TEST_KEY, journal=Journal(path))._place("GOLD", "buy", 5, None, None, None, None)
            )
        assert {request.method for request in world.sent} == {"GET"}
        assert caught.value.intent.symbol_code == "GOLD"
    assert not path.exists()


@pytest.mark.parametrize(("key", "login"), [(TEST_KEY, "argent"), (LIVE_KEY, "aurum")])
def test_it_is_not_used_for_another_account_or_environment(journal: Journal, key: str, login: str) -> None:
    placed(World(TAKEN), TEST_KEY, journal=journal)
    world = World(answer(200, ME | {"login_id": login}))
    with pytest.raises(ValueError, match="is the journal of 'aurum' in test"):
        placed(world, key, journal=Journal(journal.path))
    assert {request.method for request in world.sent} == {"GET"}


def test_an_order_of_another_account_is_not_resumed() -> None:
    world = World(answer(200, ME | {"login_id": "argent"}))
    with pytest.raises(ValueError, match="of the account 'aurum', and this client's is 'argent'"):
        world.run(caller(TEST_KEY)._resume(replace(INTENT, account="aurum"), None))
    assert [request.method for request in world.sent] == ["GET"]


def test_a_file_that_is_no_journal_is_not_written_to(path: Path) -> None:
    path.write_text('{"other": 1}\n')
    with pytest.raises(ValueError, match="is not a journal"):
        placed(World(TAKEN), TEST_KEY, journal=Journal(path, account="aurum"))
    assert path.read_text() == '{"other": 1}\n'


# --- The file -----------------------------------------------------------------------------------------------


def test_a_file_that_is_not_there_has_nothing_open(path: Path) -> None:
    assert Journal(path).unsettled() == ()
    assert not path.exists()


@pytest.mark.parametrize("cut", range(2, 60, 7))
def test_a_torn_last_line_is_skipped_and_written_after(journal: Journal, path: Path, cut: int) -> None:
    journal.bind(Environment.TEST, "aurum")
    journal.note(replace(INTENT, idempotency_key="whole"))
    journal.note(replace(INTENT, idempotency_key="torn"))
    path.write_bytes(path.read_bytes()[:-cut])
    assert [intent.idempotency_key for intent in journal.unsettled()] == ["whole"]
    journal.note(replace(INTENT, idempotency_key="next"))
    assert [intent.idempotency_key for intent in journal.unsettled()] == ["whole", "next"]


def test_a_file_that_was_taken_away_is_begun_anew(journal: Journal, path: Path) -> None:
    journal.bind(Environment.TEST, "aurum")
    path.unlink()
    journal.note(replace(INTENT, account="aurum"))
    assert journal.unsettled() == (replace(INTENT, account="aurum"),)


def test_a_file_that_was_taken_away_is_not_begun_with_an_outcome(journal: Journal, path: Path) -> None:
    def take_away(_: httpx.Request) -> httpx.Response:
        path.unlink()
        return TAKEN

    placed(World(take_away), TEST_KEY, journal=journal)
    with pytest.raises(OutcomeUnknown):
        placed(World(LOST), TEST_KEY, journal=journal)
    assert len(journal.unsettled()) == 1


def test_an_outcome_is_not_written_to_a_file_that_is_no_journal(
    journal: Journal, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def overwrite(_: httpx.Request) -> httpx.Response:
        path.write_text('{"other": 1}\n')
        return TAKEN

    assert placed(World(overwrite), TEST_KEY, journal=journal).id == TEST_ORDER["id"]
    assert path.read_text() == '{"other": 1}\n'
    assert "is not a journal" in caplog.text


def test_a_torn_head_is_written_anew(journal: Journal, path: Path) -> None:
    path.write_text('{"journal": 1, "envi')
    journal.bind(Environment.TEST, "aurum")
    journal.note(INTENT)
    assert len(journal.unsettled()) == 1


@pytest.mark.parametrize(
    "failed", [httpx.ConnectError("refused"), refusal(401, "credential_revoked"), refusal(503, "stale_rate")]
)
def test_resumed_without_an_answer_whose_it_is_the_outcome_is_as_unknown_as_before(
    journal: Journal, path: Path, failed: Any
) -> None:
    with pytest.raises(OutcomeUnknown):
        placed(World(LOST), TEST_KEY, journal=journal)
    (intent,) = Journal(path).unsettled()
    assert intent.in_doubt
    with pytest.raises(OutcomeUnknown) as caught:
        World(failed).run(caller(TEST_KEY, journal=Journal(path))._resume(intent, None))
    assert (caught.value.intent, caught.value.tries) == (intent, 0)
    assert Journal(path).unsettled() == (intent,)


def test_the_question_whose_it_is_has_the_deadline_of_the_order(path: Path) -> None:
    world = World(LOST)
    with pytest.raises(NotPlaced):
        world.run(caller(TEST_KEY, journal=Journal(path))._place("GOLD", "buy", 5, None, None, None, 5))
    assert world.sent_at[-1] <= 5


def test_lines_that_tell_of_no_order_are_skipped(journal: Journal, path: Path) -> None:
    journal.bind(Environment.TEST, "aurum")
    with path.open("a") as file:
        file.write(
            '[]\n7\n{"event": "made"}\n{"event": "made", "idempotency_key": "x", "quantity": "five"}\n'
        )
    journal.note(INTENT)
    assert len(journal.unsettled()) == 1


def test_intents_come_back_as_they_were(journal: Journal) -> None:
    journal.bind(Environment.TEST, "aurum")
    rich = replace(
        INTENT,
        expected_price=Decimal("150000.10"),
        quantity=Decimal("0.0001"),
        client_order_id='shop "17" ü\n',
        account="aurum",
        unanswered_until=START,
    )
    journal.note(rich)
    assert journal.unsettled() == (rich,)
    journal.abandon(rich)
    assert journal.unsettled() == ()


def test_it_does_not_grow_for_ever(journal: Journal, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_compacted_from", 20_000)
    journal.bind(Environment.TEST, "aurum")
    journal.note(replace(INTENT, idempotency_key="open"))
    sizes = []
    for number in range(300):
        intent = replace(INTENT, idempotency_key=f"k{number}")
        journal.note(intent)
        journal.settle(intent, outcome="order", order_id="x")
        sizes.append(path.stat().st_size)
    assert max(sizes) < 1 << 20
    assert min(sizes[150:]) < max(sizes)
    assert [intent.idempotency_key for intent in Journal(path).unsettled()] == ["open"]
    assert lines(path)[0]["account"] == "aurum"
    assert not path.with_name(f"{path.name}.new").exists()


WRITER = """
import sys
from dataclasses import replace
from bullion_client import Journal
from tests.client.calls import INTENT
journal = Journal(sys.argv[1])
journal._compacted_from = 3000
for number in range(60):
    intent = replace(INTENT, idempotency_key=f"{sys.argv[2]}-{number}")
    journal.note(intent)
    if number % 3:
        journal.settle(intent, outcome="order", order_id="x")
"""


def test_threads_and_processes_append_to_one_file(journal: Journal, path: Path) -> None:
    """Each also writes the file anew, again and again: no line is lost to a file that was replaced."""
    journal.bind(Environment.TEST, "aurum")
    root = Path(__file__).resolve().parents[2]
    processes = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), f"p{number}"], cwd=root)
        for number in range(2)
    ]

    def write(name: str) -> None:
        mine = Journal(path)
        for number in range(60):
            intent = replace(INTENT, idempotency_key=f"{name}-{number}")
            mine.note(intent)
            if number % 3:
                mine.settle(intent, outcome="order", order_id="x")

    threads = [threading.Thread(target=write, args=(f"t{number}",)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.wait(timeout=60) for process in processes] == [0, 0]
    left = {intent.idempotency_key for intent in journal.unsettled()}
    assert left == {f"{name}-{n}" for name in ("p0", "p1", "t0", "t1", "t2") for n in range(0, 60, 3)}


@pytest.mark.slow
def test_a_process_that_was_forked_meanwhile_does_not_keep_the_lock(path: Path) -> None:
    done, tell = os.pipe()
    with locked(path):
        child = os.fork()
        if child == 0:
            os.close(tell)
            os.read(done, 1)  # Until the other end is closed.
            os._exit(0)
    try:
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(tell)
        os.close(done)
        os.waitpid(child, 0)


def test_its_repr_names_the_file(journal: Journal, path: Path) -> None:
    assert repr(journal) == f"<Journal {str(path)!r}>"
    assert (journal.path, journal.account) == (path, "aurum")
