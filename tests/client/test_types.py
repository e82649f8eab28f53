"""The kind of a client's orders: mypy reads it here from the environment, and the orders are of that kind.

`make check` proves the types: mypy fails on an `assert_type` that is wrong, and on an ignored error that is
none.
"""

from collections.abc import AsyncIterator, Iterator
from typing import assert_type

import anyio
import pytest

from bullion_client import (
    AsyncClient,
    Client,
    Environment,
    Order,
    OrderPage,
    ProductionOrder,
    RawResponse,
    TestOrder,
)
from tests.client.calls import INTENT, LIVE_KEY, TEST_KEY
from tests.client.mock_service import ADDRESS, MockService
from tests.client.scripted_network import LIVE_ORDER, answer

TRANSPORT = MockService().transport


def of_any_client(client: Client) -> Order:
    return client.buy("GOLD", 5)


def test_a_client_for_test_has_test_orders() -> None:
    with Client(ADDRESS, TEST_KEY, environment="test", deadline=5, transport=TRANSPORT) as client:
        assert_type(client, Client[TestOrder])
        assert client.buy("GOLD", 5).deal_label == "T-1"
        assert client.wait(client.sell("GOLD", 5)).deal_label == "T-1"
        assert assert_type(client.with_options(timeout=3).resume(INTENT), TestOrder).deal_label == "T-1"
        assert_type(client.orders(), Iterator[TestOrder])
        assert [order.deal_label for order in client.orders()] == ["T-1"]
        assert assert_type(client.order_page(), OrderPage[TestOrder]).items[0].deal_label == "T-1"
        raw = assert_type(client.with_raw_response.buy("GOLD", 5, deadline=3), RawResponse[TestOrder])
        assert raw.value.deal_label == "T-1"
        assert of_any_client(client).id == raw.value.id


def test_a_client_for_production_has_production_orders() -> None:
    async def number() -> int | None:
        transport = MockService(answer(201, LIVE_ORDER)).transport
        async with AsyncClient(
            ADDRESS, LIVE_KEY, environment=Environment.PRODUCTION, transport=transport
        ) as client:
            assert_type(client, AsyncClient[ProductionOrder])
            assert_type(client.orders(), AsyncIterator[ProductionOrder])
            order = assert_type(await client.with_raw_response.buy("GOLD", 5), RawResponse[ProductionOrder])
            with pytest.raises(AttributeError):
                order.value.deal_label  # type: ignore[attr-defined]  # noqa: B018 - that mypy refuses it
            return order.value.deal_no

    assert anyio.run(number) == 1


def test_a_client_for_either_has_orders() -> None:
    with Client(ADDRESS, TEST_KEY, transport=TRANSPORT) as client:
        assert_type(client, Client)
        order = assert_type(client.buy("GOLD", 5), Order)
        assert order.deal_label == "T-1"  # type: ignore[attr-defined]
        assert isinstance(order, TestOrder)
        assert order.deal_label == "T-1"


def test_what_a_type_checker_refuses_is_refused() -> None:
    with pytest.raises(ValueError, match="environment must be 'test' or 'production'"):
        Client(ADDRESS, TEST_KEY, environment="staging")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="timeut"):
        Client(ADDRESS, TEST_KEY, timeut=3)  # type: ignore[call-overload]
    with (
        Client(ADDRESS, TEST_KEY, transport=TRANSPORT) as client,
        pytest.raises(TypeError, match="quantity"),
    ):
        client.with_raw_response.buy("GOLD")  # type: ignore[call-arg]
