"""A result with its response beside it, and the request's id on what was returned."""

import copy
import dataclasses
import pickle
from typing import Any

import httpx
import pytest

from bullion_client import AsyncClient, Client, CredentialRefused, RawResponse
from tests.client.mock_service import MockService, Opened
from tests.client.scripted_network import TEST_ORDER, answer, refusal
from tests.client.test_options import EVERY_CALL

Kind = type[Client | AsyncClient]
WITHOUT_ONE_RESPONSE = {"orders", "wait", "events", "stream"}
SEVERAL_VALUES = {"symbols", "quotes", "orders", "events", "stream"}
RAW = EVERY_CALL.keys() - WITHOUT_ONE_RESPONSE


@pytest.mark.parametrize("name", sorted(RAW))
def test_every_call_has_its_response_beside_it(kind: Kind, name: str) -> None:
    opened = Opened(kind, MockService())
    plain = opened.call(EVERY_CALL[name])
    raw = opened.call(lambda client: EVERY_CALL[name](client.with_raw_response, headers={"X-Shop": "7"}))
    assert isinstance(raw, RawResponse)
    assert raw.value == plain
    created = name in {"place", "buy", "sell", "resume"}
    assert (raw.status, raw.request_id, raw.replayed) == (201 if created else 200, "r-2", False)
    assert raw.headers["content-type"] == "application/json"
    assert raw.http_response.request.headers["X-Shop"] == "7"


def test_there_are_no_others() -> None:
    client = Opened(Client, MockService()).client
    assert {name for name in vars(client.with_raw_response) if not name.startswith("_")} == RAW
    other = Opened(AsyncClient, MockService()).client
    assert vars(other.with_raw_response).keys() == vars(client.with_raw_response).keys()
    assert client.with_raw_response.buy.__doc__ == Client.buy.__doc__


def test_of_several_tries_it_is_the_last(kind: Kind) -> None:
    replayed = answer(200, TEST_ORDER, Idempotent_Replayed="true", X_Request_Id="r-9")
    service = MockService(httpx.RemoteProtocolError("broke"), replayed)
    raw = Opened(kind, service).call(lambda client: client.with_raw_response.buy("GOLD", 5))
    assert (raw.status, raw.request_id, raw.replayed) == (200, "r-9", True)
    assert (raw.value.deal_label, raw.value.request_id) == ("T-1", "r-9")


def test_options_hold_for_it_and_a_refusal_is_raised_as_ever(kind: Kind) -> None:
    service = MockService()
    opened = Opened(kind, service)
    opened.client = opened.client.with_options(headers={"X-Shop": "7"})
    opened.call(lambda client: client.with_raw_response.me())
    assert service.sent("X-Shop") == ["7"]
    opened = Opened(kind, MockService(refusal(401, "credential_revoked")))
    with pytest.raises(CredentialRefused) as caught:
        opened.call(lambda client: client.with_raw_response.me())
    assert caught.value.request_id == "r-1"


def test_the_key_is_not_shown(kind: Kind) -> None:
    raw = Opened(kind, MockService()).call(lambda client: client.with_raw_response.me())
    assert "key_test" not in repr(raw)


@pytest.mark.parametrize("name", sorted(EVERY_CALL.keys() - SEVERAL_VALUES))
def test_a_value_knows_its_request(kind: Kind, name: str) -> None:
    value = Opened(kind, MockService()).call(EVERY_CALL[name])
    assert value.request_id == "r-1"
    # It is not part of the value.
    again: Any = dataclasses.replace(value)
    assert (again, again.request_id) == (value, None)
    assert pickle.loads(pickle.dumps(value)) == copy.copy(value) == value  # noqa: S301 - our own
    assert "r-1" not in repr(value)


def test_a_value_of_a_list_has_none(kind: Kind) -> None:
    page = Opened(kind, MockService()).call(EVERY_CALL["order_page"])
    assert (page.request_id, page.items[0].request_id) == ("r-1", None)


def test_request_ids_are_logged(kind: Kind, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", "bullion_client"):
        Opened(kind, MockService()).call(EVERY_CALL["buy"])
    assert "POST /api/trading/test/v1/orders: request id r-1" in caplog.text
