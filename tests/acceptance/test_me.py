"""`GET {base}/me` in both environments, complete."""

import itertools

import pytest

from bullion.environment import Environment
from tests.support.node import DeskClient, Node, running

TEST = "/api/trading/test/v1/me"
LIVE = "/api/trading/v1/me"


@pytest.mark.parametrize(("environment", "path"), [("test", TEST), ("production", LIVE)])
def test_the_account_and_the_key_behind_the_call(
    node: Node, desk: DeskClient, login: str, environment: str, path: str
) -> None:
    issued = desk.key(login, environment, name="trading program", scopes=["orders:read", "account:read"])
    with node.api(issued["key"]) as api:
        answer = api.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "login_id": login,
        "firm_name": "A Firm",
        "environment": environment,
        "key_id": issued["key_id"],
        "key_name": "trading program",
        "scopes": ["account:read", "orders:read"],
        "production_trading_available": False,
    }


def test_a_firm_without_a_name(node: Node, desk: DeskClient) -> None:
    desk.account("nameless")
    with node.api(desk.key("nameless")["key"]) as api:
        assert api.get(TEST).json()["firm_name"] is None


def test_hostile_names_are_only_text(node: Node, desk: DeskClient, login: str) -> None:
    hostile = "<script>alert('1')</script> \"; DROP TABLE accounts; -- ₹ \U0001f947"
    desk.do("PATCH", f"/accounts/{login}", {"firm_name": hostile})
    issued = desk.key(login, name=hostile)
    with node.api(issued["key"]) as api:
        answer = api.get(TEST).json()
    assert (answer["firm_name"], answer["key_name"]) == (hostile, hostile)


@pytest.mark.parametrize("environment", Environment)
def test_production_trading_is_available_when_every_switch_is_on(
    node: Node, desk: DeskClient, environment: Environment
) -> None:
    """A broker of its own, since its switches are turned; the deploy switch is on for this node."""
    broker = f"avail-{environment}"
    desk.do("PUT", f"/brokers/{broker}", {"name": broker, "hosts": [f"{broker}.example"]})
    token = desk.do("POST", "/tokens", {"name": "its admin", "role": "admin", "broker": broker})["token"]
    with node.desk(token) as its_desk:
        its_desk.add_group().account("client")
        key = its_desk.key("client", environment.value)["key"]
        with node.api(key, Host=f"{broker}.example") as api:
            for production, paused, trading in itertools.product((False, True), repeat=3):
                its_desk.do("PATCH", "/switches", {"production": production, "paused": paused})
                its_desk.do("PATCH", "/accounts/client", {"production_trading": trading})
                answer = api.get(f"{environment.base_path}/me").json()
                assert answer["production_trading_available"] == (production and not paused and trading)


def test_the_deploy_switch_stands_above_the_others(tmp_path_factory: pytest.TempPathFactory) -> None:
    with running(tmp_path_factory.mktemp("closed")) as node, node.desk() as desk:
        desk.add_group().account("client", production_trading=True)
        desk.do("PATCH", "/switches", {"production": True})
        with node.api(desk.key("client", "production")["key"]) as api:
            assert api.get(LIVE).json()["production_trading_available"] is False
