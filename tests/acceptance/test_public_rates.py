"""The public rate page: off by default, nothing but prices, shared by caches, honest about its state."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.desk import Office, first_caller, nothing_changed, refusal
from tests.support.node import Node, own_transport, until
from tests.support.orders import GOLD, SILVER

PAGE, PRICES = "/rates", "/rates/prices.json"
SHOWN = {"group": "retail", "title": "Rates of <A & B>"}


@pytest.fixture
def office(node: Node) -> Iterator[Office]:
    with first_caller(node) as first:
        office = Office.open(node, first)
        desk = office.desk
        desk.do("PUT", "/symbols/GOLD", GOLD)
        desk.do("PUT", "/symbols/SILVER", {**SILVER, "quoted_weight": "0.5"})
        terms = {"buy_premium": "100", "sell_premium": "-50"}
        desk.do("PUT", "/groups/retail", {"default_terms": terms})
        yield office
        office.close()


@pytest.fixture
def viewer(office: Office) -> Iterator[httpx.Client]:
    transport = own_transport()
    headers = {"Host": f"{office.broker}.example"}
    with httpx.Client(base_url=office.node.api_url, headers=headers, transport=transport, timeout=20) as http:
        yield http


def show(office: Office, **changes: Any) -> None:
    office.desk.do("PATCH", "/switches", {"public_rates": SHOWN | changes})


def rows(viewer: httpx.Client) -> dict[str, Any]:
    answer = viewer.get(PRICES)
    assert answer.status_code == 200, answer.text
    return {each["code"]: each for each in answer.json()["rows"]}


def until_state(viewer: httpx.Client, state: str) -> dict[str, Any]:
    """They are made once a second, and the venue's word on a new symbol takes as long."""
    until(lambda: rows(viewer)["GOLD"]["state"] == state, within_s=8)
    found: dict[str, Any] = rows(viewer)["GOLD"]
    return found


def test_it_is_off_until_the_broker_turns_it_on(office: Office, viewer: httpx.Client) -> None:
    unknown = viewer.get("/nothing")
    for path in (PAGE, PRICES, "/rates/page.css", "/rates/page.js"):
        answer = viewer.get(path)
        assert (answer.status_code, answer.content) == (404, unknown.content)
    show(office)
    assert [viewer.get(path).status_code for path in (PAGE, PRICES)] == [200, 200]
    other = viewer.get(PAGE, headers={"Host": "another.example"})
    assert other.status_code == 404, "only the broker's own hosts show it"
    office.desk.do("PATCH", "/switches", {"public_rates": None})
    assert [viewer.get(path).status_code for path in (PAGE, PRICES)] == [404, 404]


def test_it_shows_the_groups_prices_and_nothing_else(office: Office, viewer: httpx.Client) -> None:
    show(office)
    until_state(viewer, "live")
    found = viewer.get(PRICES).json()
    assert found.keys() == {"now_ms", "title", "zone", "rows"}
    assert (found["title"], found["zone"]) == (SHOWN["title"], "Asia/Kolkata")
    gold = {
        "code": "GOLD",
        "per": "10 g",
        "buy": "71340.00",
        "sell": "71180.00",
        "at_ms": None,
        "state": "live",
    }
    assert rows(viewer)["GOLD"] == gold
    assert rows(viewer)["SILVER"]["per"] == "0.5 kg"
    text = viewer.get(PRICES).text + viewer.get(PAGE).text
    for hidden in ("retail", "71240", "premium", office.broker, "A Broker"):
        assert hidden not in text


def test_a_group_sees_only_what_it_trades(office: Office, viewer: httpx.Client) -> None:
    terms = {"GOLD": {"buy_premium": "5", "sell_premium": None}}
    office.desk.do("PUT", "/groups/shop", {"terms": terms})
    show(office, group="shop")
    until_state(viewer, "live")
    found = rows(viewer)
    assert found.keys() == {"GOLD"}
    assert (found["GOLD"]["buy"], found["GOLD"]["sell"]) == ("71245.00", None)
    office.desk.do("PATCH", "/groups/shop", {"trading": False})
    until(lambda: rows(viewer) == {}, within_s=5)


def test_a_price_that_nobody_gets_is_not_shown(office: Office, viewer: httpx.Client) -> None:
    desk = office.desk
    show(office)
    until_state(viewer, "live")

    def blank(state: str) -> None:
        row = until_state(viewer, state)
        assert (row["buy"], row["sell"]) == (None, None)

    desk.do("PATCH", "/switches", {"halted": True})
    blank("halted")
    desk.do("PATCH", "/switches", {"halted": False, "paused": True})
    blank("halted")
    desk.do("PATCH", "/switches", {"paused": False})
    desk.do("PATCH", "/symbols/GOLD", {"frozen": True})
    blank("unavailable")
    desk.do("PATCH", "/symbols/GOLD", {"frozen": False})
    closed = {"zone": "Asia/Kolkata", "week": {}, "holidays": []}
    desk.do("PATCH", "/switches", {"trading_hours": closed})
    assert until_state(viewer, "closed")["buy"] == "71340.00"
    desk.do("PATCH", "/switches", {"trading_hours": None})
    pricing = {"kind": "direct", "instrument": "MUMBAI"}
    desk.do("PATCH", "/symbols/GOLD", {"pricing": pricing, "rate_age_s_max": 2})
    blank("unavailable")
    rate = {"bid": "71230", "ask": "71240"}
    desk.do("PUT", "/rates/MUMBAI", rate)
    blank("old")


def test_caches_may_share_it_and_viewers_get_it_once(office: Office, viewer: httpx.Client) -> None:
    show(office)
    until_state(viewer, "live")
    for path in (PAGE, PRICES):
        answer = viewer.get(path)
        assert answer.headers["cache-control"] == "public, max-age=1"
        assert "set-cookie" not in answer.headers
        again = viewer.get(path, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert "content-length" not in again.headers
        assert again.headers["etag"] == answer.headers["etag"]
    tag = viewer.get(PRICES).headers["etag"]
    office.desk.do(
        "PATCH", "/groups/retail", {"default_terms": {"buy_premium": "101", "sell_premium": "-50"}}
    )
    until(lambda: viewer.get(PRICES).headers["etag"] != tag, within_s=5)
    assert viewer.get(PRICES, headers={"If-None-Match": tag}).status_code == 200
    assert viewer.head(PRICES).content == b""


def test_the_page_runs_only_its_own_files(office: Office, viewer: httpx.Client) -> None:
    show(office)
    page = viewer.get(PAGE)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "<h1>Rates of &lt;A &amp; B&gt;</h1>" in page.text
    assert not re.search(r"<style|style=|<script>|\son\w+=", page.text)
    for path in re.findall(r'(?:href|src)="([^"]+)"', page.text):
        answer = viewer.get(path)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_nobody_changes_anything_through_it(office: Office, viewer: httpx.Client) -> None:
    show(office)
    assert [viewer.request(method, PAGE).status_code for method in ("POST", "PUT", "DELETE")] == [405] * 3


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"group": "nobody", "title": "x"}, "public_rates.group"),
        ({"group": "retail"}, "title"),
        ({"group": "retail", "title": " "}, "title"),
        ({"group": "retail", "title": "x", "colour": "red"}, "colour"),
        (True, "public_rates"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(office: Office, value: Any, field: str) -> None:
    with nothing_changed(office.desk):
        answer = office.desk.patch("/switches", json={"public_rates": value})
        assert field in refusal(answer, 422, "invalid_request")


def test_a_dealer_may_not_turn_it_on(office: Office) -> None:
    refusal(office.hire("dealer").patch("/switches", json={"public_rates": SHOWN}), 403, "role_too_low")
