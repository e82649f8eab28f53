"""Which declared path answers a path that is asked for."""

import pytest

from bullion.refusals.catalogue import METHOD_NOT_ALLOWED
from bullion.refusals.refusal import RefusalError
from bullion.web.router import Router

ROUTER = Router(
    {
        "/orders": {"POST": "place", "GET": "list"},
        "/orders/summary": {"GET": "summary"},
        "/orders/{id}": {"GET": "one"},
        "/orders/{id}/{action}": {"POST": "act"},
        "/accounts/{login_id}/keys": {"GET": "keys"},
    }
)


@pytest.mark.parametrize(
    ("path", "declared", "params"),
    [
        ("/orders", "/orders", {}),
        ("/orders/summary", "/orders/summary", {}),
        ("/orders/1", "/orders/{id}", {"id": "1"}),
        ("/orders/{id}", "/orders/{id}", {"id": "{id}"}),
        ("/orders/a b\n", "/orders/{id}", {"id": "a b\n"}),
        ("/orders/1/close", "/orders/{id}/{action}", {"id": "1", "action": "close"}),
        ("/accounts/x/keys", "/accounts/{login_id}/keys", {"login_id": "x"}),
    ],
)
def test_a_path_is_found_with_its_parameters(path: str, declared: str, params: dict[str, str]) -> None:
    found = ROUTER.find(path)
    assert found is not None
    assert (found.path, found.params) == (declared, params)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/order",
        "/orders/",
        "/orders\n",
        "//orders",
        "/Orders",
        "/orders/a%2Fb",
        "/orders/1/",
        "/orders//close",
        "/orders/1/close/now",
        "/accounts/x/key",
        "/accounts//keys",
    ],
)
def test_other_paths_are_not_found(path: str) -> None:
    assert ROUTER.find(path) is None


def test_a_method_that_is_not_there_is_refused_with_those_that_are() -> None:
    found = ROUTER.find("/orders")
    assert found is not None
    assert found.target("POST") == "place"
    with pytest.raises(RefusalError) as refused:
        found.target("PUT")
    assert refused.value.refusal is METHOD_NOT_ALLOWED
    assert refused.value.headers == {"Allow": "GET, POST"}
