"""What is sent for a call, and that reads are tried again as orders are, without time passing."""

from typing import Any

import httpx
import pytest

from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import RefusalCode as Row
from bullion.refusals.refusal import Retry
from bullion_client import NoAnswer, Refusal, UnexpectedAnswer
from tests.client.calls import TEST_KEY
from tests.client.scripted_network import LIVE_ORDER, TEST_ORDER, World, answer, caller, placed, refusal

TAKEN = answer(201, LIVE_ORDER)
LOST = httpx.ReadTimeout("")
BROKE = httpx.RemoteProtocolError("Server disconnected without sending a response.")
REFUSED_CONNECTION = httpx.ConnectError("Connection refused")
AGAIN = [row for row in CATALOGUE if row.retry in (Retry.SAME_KEY, Retry.SAME_KEY_AFTER)]
FINAL = [row for row in CATALOGUE if row.retry in (Retry.NEVER, Retry.NEW_KEY)]


def told(row: Row, **options: Any) -> httpx.Response:
    return refusal(row.status, row.code, **options)


@pytest.mark.parametrize("row", AGAIN, ids=lambda row: row.code)
def test_a_read_is_tried_again_after_a_refusal_that_passes(row: Row) -> None:
    world = World(told(row, retry_after=3), answer(200, LIVE_ORDER))
    assert world.run(caller()._order("7")).id == LIVE_ORDER["id"]
    assert world.pauses == [3.25]


@pytest.mark.parametrize("row", FINAL, ids=lambda row: row.code)
def test_a_read_is_not_tried_again_after_a_refusal_that_stays(row: Row) -> None:
    world = World(told(row))
    with pytest.raises(Refusal, match=row.code):
        world.run(caller()._order("7"))
    assert len(world.sent) == 1


@pytest.mark.parametrize(
    "lost", [LOST, BROKE, REFUSED_CONNECTION, answer(502, b"<html>"), httpx.DecodingError("not gzip")]
)
def test_a_read_is_tried_again_without_an_answer(lost: Any) -> None:
    assert World(lost, answer(200, LIVE_ORDER)).run(caller()._order("7")).id == LIVE_ORDER["id"]
    world = World(lost)
    with pytest.raises((NoAnswer, UnexpectedAnswer)):
        world.run(caller()._order("7"))
    assert world.sent_at[-1] <= 60


@pytest.mark.parametrize(
    "strange", [answer(200, b"<html>"), answer(404, {"detail": "Not Found"}), answer(200, {})]
)
def test_a_read_that_something_else_answers_is_told_at_once(strange: httpx.Response) -> None:
    world = World(strange)
    with pytest.raises(UnexpectedAnswer):
        world.run(caller()._order("7"))
    assert len(world.sent) == 1


def test_what_is_sent_for_an_order() -> None:
    world = World(answer(201, TEST_ORDER | {"quantity": "2.5000"}))
    world.run(caller(TEST_KEY)._place("GOLD", "buy", "2.50", "150000.10", 'shop "17" ü', "my-key", None))
    (request,) = world.sent
    assert request.url.path == "/api/trading/test/v1/orders"
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["Idempotency-Key"] == "my-key"
    assert request.content == (
        b'{"symbol_code": "GOLD", "trade_type": "buy", "quantity": 2.5, '
        b'"expected_price": 150000.1, "client_order_id": "shop \\"17\\" \\u00fc"}'
    )


def test_each_order_has_a_new_key() -> None:
    keys = set()
    for _ in range(20):
        world = World(TAKEN)
        placed(world)
        keys |= world.keys
    assert len(keys) == 20
    assert all(len(key) == 36 for key in keys)


def test_a_mistake_is_told_before_anything_is_sent() -> None:
    world = World(TAKEN)
    with pytest.raises(ValueError, match="quantity"):
        world.run(caller()._place("GOLD", "buy", 0, None, None, None, None))
    assert world.sent == []
