"""Lists: `limit`, `offset` and `total`, the same on each of them."""

from collections.abc import Iterator

import pytest

from tests.support.dealing import Dealing
from tests.support.desk import SYMBOL, Caller, Office, without_age
from tests.support.node import Node, until
from tests.support.orders import GOLD, Trader

LISTS = ["/brokers", "/symbols", "/groups", "/accounts", "/accounts/c0/keys", "/tokens", "/audit"]
LISTS += ["/rates", "/duties", "/orders"]


@pytest.fixture(scope="module")
def full(node: Node, first: Caller) -> Iterator[Office]:
    """An office with at least five of each thing but brokers."""
    office = Office.open(node, first)
    for number in range(5):
        office.desk.do("PUT", f"/symbols/S{number}", SYMBOL)
        office.desk.do("PUT", f"/groups/g{number}", {})
        office.desk.account(f"c{number}")
        office.desk.key("c0", name=f"key {number}")
        office.desk.do("POST", "/tokens", {"name": f"token {number}", "role": "viewer"})
        office.desk.do("PUT", f"/rates/I{number}", {"bid": "1", "ask": "2"})
        office.desk.do("PUT", f"/duties/d{number}", [{"from": "2026-05-13", "rupees": "5"}])
    office.desk.do("PUT", "/symbols/GOLD", GOLD)
    office.desk.account("trader", allocation={"gold": "1000"})
    issued = office.desk.key("trader")
    with node.api(issued["key"], Host=f"{office.broker}.example") as http:
        for _ in range(5):
            Trader(http, "trader", issued).buy(1)
    yield office
    office.close()


@pytest.mark.parametrize("path", LISTS)
def test_pages_fit_together(full: Office, path: str) -> None:
    whole = full.desk.do("GET", path)
    assert len(whole["items"]) == whole["total"] > 0
    paged = []
    for offset in range(0, whole["total"], 2):
        page = full.desk.do("GET", f"{path}?limit=2&offset={offset}")
        assert page["total"] == whole["total"]
        assert len(page["items"]) == min(2, whole["total"] - offset)
        paged += page["items"]
    assert [without_age(item) for item in paged] == [without_age(item) for item in whole["items"]]


@pytest.mark.parametrize("path", LISTS)
def test_past_the_end_is_an_empty_page(full: Office, path: str) -> None:
    total = full.desk.do("GET", path)["total"]
    for offset in (total, 10**15):
        assert full.desk.do("GET", f"{path}?offset={offset}") == {"items": [], "total": total}


@pytest.mark.parametrize("offset", [10**15 + 1, 10**18, 2**63, 2**64, 10**40])
def test_any_whole_number_is_an_offset(full: Office, offset: int) -> None:
    for path in LISTS:
        assert full.desk.do("GET", f"{path}?offset={offset}")["items"] == []


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=-1", "limit"),
        ("limit=", "limit"),
        ("limit=ten", "limit"),
        ("limit=1.5", "limit"),
        ("limit=%2B1", "limit"),
        ("limit=1_0", "limit"),
        ("limit=%D9%A1", "limit"),
        ("limit=1%00", "limit"),
        ("limit=000000000000000001999", "limit"),
        pytest.param("limit=" + "9" * 5000, "limit", id="5,000 digits"),
        ("limit=1&limit=2", "limit"),
        ("offset=-1", "offset"),
        ("offset=", "offset"),
        ("offset=x", "offset"),
        ("offset=1&offset=1", "offset"),
    ],
)
def test_what_is_no_page_is_refused(full: Office, query: str, named: str) -> None:
    for path in LISTS:
        assert named in full.desk.refused("GET", f"{path}?{query}")


@pytest.mark.parametrize("offset", ["0" * 5000, "0" * 18 + "9" * 30], ids=["zeros", "then nines"])
def test_zeros_in_front_break_nothing(full: Office, offset: str) -> None:
    for path in LISTS:
        assert full.desk.get(f"{path}?offset={offset}").status_code in (200, 422)


def test_an_unknown_parameter_is_ignored(full: Office) -> None:
    assert full.desk.do("GET", "/accounts?colour=red") == full.desk.do("GET", "/accounts")


def test_a_page_has_50_unless_asked(office: Office) -> None:
    for number in range(51):
        office.desk.do("PUT", f"/symbols/S{number:02}", SYMBOL)
    page = office.desk.do("GET", "/symbols")
    assert (len(page["items"]), page["total"]) == (50, 51)
    assert len(office.desk.do("GET", "/symbols?limit=200")["items"]) == 51


def test_the_lists_of_the_hedge_have_pages_too(dealing: Dealing) -> None:
    dealing.venue(mode="hold")
    for _ in range(3):
        dealing.placed()
    dealing.do(dealing.placed(), "delete")
    dealing.venue(mode="fill")
    until(lambda: dealing.desk.do("GET", "/hedge/queue")["total"] == 0, within_s=20)
    assert dealing.desk.do("GET", "/hedge/breaks")["total"] == 1
    assert dealing.desk.do("GET", "/hedge/executions")["total"] == 5
    for path in ("/hedge/executions", "/hedge/breaks", "/hedge/queue"):
        whole = dealing.desk.do("GET", path)
        paged = [
            item
            for offset in range(0, 6, 2)
            for item in dealing.desk.do("GET", f"{path}?limit=2&offset={offset}")["items"]
        ]
        assert paged == whole["items"]
        assert dealing.desk.do("GET", f"{path}?offset={10**18}")["items"] == []
        assert "limit" in dealing.desk.refused("GET", f"{path}?limit=0")
