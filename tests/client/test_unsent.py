"""Orders that were written to the journal and never sent: the next run must not place them unasked."""

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from bullion_client import AsyncClient, Client, Environment, Intent, Journal
from tests.client.calls import INTENT, TEST_KEY
from tests.client.scripted_network import TEST_ORDER, World, answer, caller, refusal

ADDRESS = "https://trading.example"
Network = Callable[[httpx.Request], httpx.Response]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "orders.journal", account="aurum")


def client(journal: Journal, network: Network, **options: Any) -> Client[Any]:
    return Client(ADDRESS, TEST_KEY, journal=journal, transport=httpx.MockTransport(network), **options)


def interrupt(*_: object) -> Any:
    raise KeyboardInterrupt


def refuse(_: httpx.Request) -> httpx.Response:
    return refusal(429, "rate_limited", retry_after=30)


def do_not_connect(_: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused")


def lose(_: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("")


def interrupted(journal: Journal, network: Network) -> None:
    with client(journal, network) as made, pytest.raises(KeyboardInterrupt):
        made.buy("GOLD", 5)


@pytest.fixture
def ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl+C is pressed at every wait."""
    monkeypatch.setattr(time, "sleep", interrupt)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("network", [refuse, do_not_connect])
def test_interrupted_before_it_is_tried_again(journal: Journal, network: Network) -> None:
    interrupted(journal, network)
    assert journal.path.exists()
    assert journal.unsettled() == ()


@pytest.mark.usefixtures("ctrl_c")
def test_interrupted_while_it_waits_for_its_budget(journal: Journal) -> None:
    used_up = answer(201, TEST_ORDER, RateLimit_Remaining="0", RateLimit_Reset="30")
    with client(journal, lambda _: used_up, pace=True) as made:
        made.buy("GOLD", 5)
        with pytest.raises(KeyboardInterrupt):
            made.buy("GOLD", 5)
    assert journal.unsettled() == ()


@pytest.mark.usefixtures("ctrl_c")
def test_interrupted_after_a_try_without_an_answer_it_stays(journal: Journal) -> None:
    interrupted(journal, lose)
    assert len(journal.unsettled()) == 1


def test_interrupted_while_it_is_sent_it_stays(journal: Journal) -> None:
    interrupted(journal, interrupt)
    assert len(journal.unsettled()) == 1


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(("in_doubt", "left"), [(True, 1), (False, 0)])
def test_resumed_and_interrupted_it_is_as_unknown_as_before(
    journal: Journal, in_doubt: bool, left: int
) -> None:
    journal.bind(Environment.TEST, "aurum")
    intent = replace(INTENT, account="aurum", in_doubt=in_doubt)
    with client(journal, refuse) as made, pytest.raises(KeyboardInterrupt):
        made.resume(intent)
    assert len(journal.unsettled()) == left


def test_a_client_that_is_closed_sends_nothing(journal: Journal) -> None:
    made = client(journal, refuse)
    made.close()
    with pytest.raises(RuntimeError, match="closed"):
        made.buy("GOLD", 5)
    assert journal.unsettled() == ()


def test_a_client_that_is_closed_does_not_settle_what_was_sent(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = client(journal, lose)
    monkeypatch.setattr(time, "sleep", lambda _: made.close())
    with pytest.raises(RuntimeError, match="closed"):
        made.buy("GOLD", 5)
    assert len(journal.unsettled()) == 1


def test_it_is_not_sent_if_it_may_not_be_on_the_disk(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.bind(Environment.TEST, "aurum")

    def fail(_: int) -> None:
        raise OSError("disk broken")

    monkeypatch.setattr(os, "fsync", fail)
    world = World(answer(201, TEST_ORDER))
    with pytest.raises(OSError, match="disk broken"):
        world.run(caller(TEST_KEY, journal=journal)._place("GOLD", "buy", 5, None, None, None, None))
    assert (world.sent, journal.unsettled()) == ([], ())


# --- Cancelled tasks --------------------------------------------------------------------------------------


async def cancelled(journal: Journal, network: Any, ready: asyncio.Event) -> None:
    """Place an order in a task, and cancel that once it is ready."""
    transport = httpx.MockTransport(network)
    async with AsyncClient(ADDRESS, TEST_KEY, journal=journal, transport=transport) as made:
        task = asyncio.create_task(made.buy("GOLD", 5))
        await ready.wait()
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def test_cancelled_before_it_is_tried_again(journal: Journal) -> None:
    async def run() -> None:
        ready = asyncio.Event()

        async def refuse_now(request: httpx.Request) -> httpx.Response:
            ready.set()
            return refuse(request)

        await cancelled(journal, refuse_now, ready)

    asyncio.run(run())
    assert journal.path.exists()
    assert journal.unsettled() == ()


def test_cancelled_while_it_is_sent_it_stays(journal: Journal) -> None:
    async def run() -> None:
        ready = asyncio.Event()

        async def hold(_: httpx.Request) -> httpx.Response:
            ready.set()
            await asyncio.sleep(60)
            raise AssertionError

        await cancelled(journal, hold, ready)

    asyncio.run(run())
    assert len(journal.unsettled()) == 1


def test_cancelled_while_it_is_written(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    note = Journal.note

    async def run() -> None:
        ready, loop = asyncio.Event(), asyncio.get_running_loop()

        def note_slowly(self: Journal, intent: Intent) -> None:
            loop.call_soon_threadsafe(ready.set)
            time.sleep(0.3)
            note(self, intent)

        monkeypatch.setattr(Journal, "note", note_slowly)
        await cancelled(journal, lose, ready)

    asyncio.run(run())
    assert '"made"' in journal.path.read_text()
    assert journal.unsettled() == ()
