"""Covers that a dealer sends to the simulated venue, and what becomes of them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.support.dealing import Dealing
from tests.support.desk import nothing_changed
from tests.support.node import until

GOLDM = {"metal": "gold", "instrument": "GOLD", "lot": "100", "fineness": "995", "price_weight": "10"}
RATE = {"bid": "71240", "ask": "71250"}
ANSWER_S = 20.0
"""How soon a cover is answered on a busy machine."""


@pytest.fixture
def covering(dealing: Dealing) -> Dealing:
    """A house that is short of 199.8 g, with a contract to cover it in, and its rate."""
    dealing.desk.do("PUT", "/rates/GOLD", RATE)
    dealing.desk.do("PATCH", "/hedge/book/gold", {"policy": "book", "limit": "1000"})
    dealing.desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM)
    dealing.placed(quantity="200")
    return dealing


def cover(dealing: Dealing, quantity: str = "2", key: str = "k1", **fields: Any) -> Any:
    body = {"contract": "GOLDM", "side": "buy", "quantity": quantity, "idempotency_key": key, **fields}
    return dealing.desk.do("POST", "/hedge/covers", body)


def send(dealing: Dealing, made: Any) -> Any:
    return dealing.desk.do("POST", f"/hedge/covers/{made['id']}/send")


def read(dealing: Dealing, made: Any) -> Any:
    (found,) = [each for each in dealing.desk.all("/hedge/covers") if each["id"] == made["id"]]
    return found


def becomes(dealing: Dealing, made: Any, state: str) -> Any:
    until(lambda: read(dealing, made)["state"] == state, within_s=ANSWER_S)
    return read(dealing, made)


def residual(dealing: Dealing) -> str:
    return str(dealing.desk.do("GET", "/hedge/book")["items"][0]["residual"])


def executed(dealing: Dealing, made: Any) -> list[str]:
    """What the venue executed under the cover's id."""
    return [
        each["outcome"] for each in dealing.desk.all("/hedge/executions") if each["order_id"] == made["id"]
    ]


def test_a_sent_cover_is_filled_at_the_market_and_moves_the_book(covering: Dealing) -> None:
    made = cover(covering)
    sent = send(covering, made)
    assert (sent["state"], sent["deals"]) == ("sent", [])
    assert sent["sent_by"].startswith("an admin")
    filled = becomes(covering, made, "filled")
    (deal,) = filled["deals"]
    assert (filled["reference"], deal["price"], deal["quantity"], deal["fine"]) == (
        "71245.000000",
        "71245.000000",
        "2.00000000",
        "199.000",
    )
    assert residual(covering) == "-0.800"
    assert executed(covering, made) == ["confirmed"]
    entry = covering.desk.do("GET", "/audit?limit=1")["items"][0]
    assert (entry["action"], entry["subject"]) == ("send_cover", made["id"])
    assert entry["text"] == "cover sent: buy 2 GOLDM"
    assert covering.desk.do("GET", "/hedge/breaks")["total"] == 0
    counted = [
        line
        for line in httpx.get(f"{covering.office.node.desk_url}/metrics").text.splitlines()
        if line.startswith('bullion_covers_total{outcome="filled",rule="by_hand"}')
    ]
    assert len(counted) == 1
    assert float(counted[0].split()[-1]) >= 1


def test_a_part_of_a_cover_is_a_smaller_cover_and_a_part_of_a_lot_none(covering: Dealing) -> None:
    covering.venue(fill_percent=60)
    made, single = cover(covering, side="sell"), cover(covering, "1", "k2")
    send(covering, made)
    send(covering, single)
    partly = becomes(covering, made, "partly")
    assert [(each["quantity"], each["fine"]) for each in partly["deals"]] == [("1.00000000", "99.500")]
    assert partly["words"] == "The simulated venue filled a part of it."
    assert becomes(covering, single, "refused")["deals"] == []
    assert residual(covering) == "-299.300"
    assert covering.desk.do("GET", "/hedge/breaks")["total"] == 0


def test_a_refused_cover_moves_nothing_and_says_why(covering: Dealing) -> None:
    covering.venue(mode="refuse")
    made = cover(covering)
    send(covering, made)
    refused = becomes(covering, made, "refused")
    assert (refused["words"], refused["deals"]) == ("The simulated venue refuses orders.", [])
    assert residual(covering) == "-199.800"


def test_a_cover_waits_for_a_venue_that_is_down_and_is_executed_once(covering: Dealing) -> None:
    covering.venue(mode="down")
    made = cover(covering)
    send(covering, made)
    until(lambda: read(covering, made)["words"] == "the simulated venue is down", within_s=ANSWER_S)
    drop = f"/hedge/covers/{made['id']}/drop"
    assert "this one is sent" in covering.desk.refused("POST", drop, {}, status=409, code="conflict")
    covering.venue(mode="fill")
    filled = becomes(covering, made, "filled")
    assert (len(filled["deals"]), filled["words"]) == (1, None)
    assert executed(covering, made) == ["confirmed"]


@pytest.mark.parametrize(
    "behaviour", [{"mode": "hold"}, {"delay_ms": 300}, {"delay_ms": 100, "unasked": True}], ids=str
)
def test_an_answer_that_comes_late_is_taken_once(covering: Dealing, behaviour: dict[str, Any]) -> None:
    covering.venue(**behaviour)
    made = cover(covering)
    send(covering, made)
    if behaviour == {"mode": "hold"}:
        until(lambda: read(covering, made)["words"] == "The simulated venue holds orders.", within_s=ANSWER_S)
        covering.venue(mode="fill")
    assert len(becomes(covering, made, "filled")["deals"]) == 1
    assert residual(covering) == "-0.800"
    assert executed(covering, made) == ["confirmed"]


def test_a_cover_without_a_rate_waits_and_may_be_dropped(covering: Dealing) -> None:
    covering.desk.do("PUT", "/hedge/contracts/SPOT", GOLDM | {"instrument": "MUMBAI"})
    made = cover(covering, contract="SPOT")
    other = cover(covering, contract="SPOT", key="k2")
    send(covering, made)
    send(covering, other)
    words = "It waits for a fresh rate of MUMBAI, to measure its price by."
    until(lambda: read(covering, made)["words"] == words, within_s=ANSWER_S)
    dropped = covering.desk.do("POST", f"/hedge/covers/{other['id']}/drop", {"reason": "dealt elsewhere"})
    assert dropped["state"] == "dropped"
    covering.desk.do("PUT", "/rates/MUMBAI", RATE)
    becomes(covering, made, "filled")
    assert read(covering, other)["state"] == "dropped"
    assert executed(covering, other) == []


def test_a_contract_in_dollars_takes_the_price_of_a_dollar(covering: Dealing) -> None:
    ounce = {"lot": "31.1034768", "fineness": "1000", "step": "0.001", "price_weight": "31.1034768"}
    spot = {"metal": "gold", "instrument": "XAUUSD", "currency": "USD", **ounce}
    covering.desk.do("PUT", "/hedge/contracts/XAU", spot)
    covering.desk.do("PUT", "/rates/XAUUSD", {"bid": "4100.5", "ask": "4100.9"})
    made = cover(covering, "6.4", contract="XAU")
    send(covering, made)
    words = "It waits for a fresh rate of XAUUSD and the dollar, to measure its price by."
    until(lambda: read(covering, made)["words"] == words, within_s=ANSWER_S)
    covering.desk.do("PUT", "/rates/USDINR", {"bid": "92", "ask": "92.5"})
    (deal,) = becomes(covering, made, "filled")["deals"]
    assert (deal["price"], deal["dollar"], deal["fine"]) == ("4100.700000", "92.250000", "199.062")


def test_only_a_suggested_cover_in_a_usable_contract_can_be_sent(covering: Dealing) -> None:
    desk = covering.desk
    sent, dropped, made = cover(covering), cover(covering, key="k2"), cover(covering, key="k3")
    send(covering, sent)
    desk.do("POST", f"/hedge/covers/{dropped['id']}/drop", {})

    def refused(each: Any) -> str:
        with nothing_changed(desk):
            path = f"/hedge/covers/{each['id']}/send"
            return str(desk.refused("POST", path, status=409, code="conflict"))

    becomes(covering, sent, "filled")
    assert "this one is filled" in refused(sent)
    assert "this one is dropped" in refused(dropped)
    for change, words in (
        ({"active": False}, "is not active"),
        ({"expires_on": "2024-02-05"}, "last day to hold GOLDM has passed"),
        ({"lot": "10"}, "was changed since"),
    ):
        desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM | change)
        assert words in refused(made)
    desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM | {"mode": "auto"})
    viewer = covering.office.hire("viewer")
    viewer.refused("POST", f"/hedge/covers/{made['id']}/send", status=403, code="role_too_low")
    desk.refused("POST", f"/hedge/covers/{covering.office.broker}/send", status=404, code="not_found")
    send(covering, made)
    becomes(covering, made, "filled")


@pytest.mark.parametrize("other", ["send", "drop"])
def test_of_two_dealers_at_once_one_has_the_cover(covering: Dealing, other: str) -> None:
    desks = [covering.office.hire("dealer") for _ in range(2)]
    covers = [cover(covering, "1", f"k{number}") for number in range(4)]

    def press(call: tuple[Callable[..., httpx.Response], str]) -> int:
        return call[0](call[1], json={}).status_code

    with ThreadPoolExecutor(2) as threads:
        for made in covers:
            calls = [(desks[0].post, "send"), (desks[1].post, other)]
            codes = threads.map(press, [(post, f"/hedge/covers/{made['id']}/{verb}") for post, verb in calls])
            assert sorted(codes) in ([200, 409], *([[200, 200]] if other == "drop" else []))
    for made in covers:
        until(lambda made=made: read(covering, made)["state"] in ("filled", "dropped"), within_s=ANSWER_S)
    for made in covers:
        state = read(covering, made)["state"]
        assert executed(covering, made) == (["confirmed"] if state == "filled" else [])
    filled = [each for each in covers if read(covering, each)["state"] == "filled"]
    assert residual(covering) == f"{-199.8 + 99.5 * len(filled):.3f}"


# --- Settled by hand -----------------------------------------------------------------------------------

NONE = {"outcome": "none", "reason": "their desk has no such order"}


def executed_as(*fills: tuple[str, str]) -> dict[str, Any]:
    """By execution and quantity."""
    listed = [{"execution_id": name, "quantity": quantity, "price": "71250"} for name, quantity in fills]
    return {"outcome": "executed", "reason": "told by their desk", "fills": listed}


def unanswered(dealing: Dealing, key: str = "k1") -> Any:
    """A cover that a node tried to send, while the venue is down."""
    dealing.venue(mode="down")
    made = cover(dealing, key=key)
    send(dealing, made)
    until(lambda: read(dealing, made)["words"] == "the simulated venue is down", within_s=ANSWER_S)
    return made


def settle(dealing: Dealing, made: Any, body: dict[str, Any]) -> Any:
    """A node may be trying at this moment: then it is refused, and repeated."""
    path = f"/hedge/covers/{made['id']}/settle"

    def done() -> bool:
        answer = dealing.desk.post(path, json=body)
        if answer.status_code == 409 and "A node may be asking" in answer.text:
            return False
        assert answer.status_code == 200, answer.text
        return True

    until(done, within_s=ANSWER_S)
    return read(dealing, made)


def test_a_cover_that_nobody_answers_is_settled_by_what_the_venue_said(covering: Dealing) -> None:
    made, none = unanswered(covering), unanswered(covering, "k2")
    done = settle(covering, made, executed_as(("X17", "1"), ("X18", "1")))
    assert (done["state"], done["words"]) == ("filled", "told by their desk")
    assert done["settled_by"].startswith("an admin")
    assert [each["reference"] for each in done["deals"]] == ["X17", "X18"]
    assert settle(covering, made, executed_as(("X17", "1"), ("X18", "1"))) == done
    assert residual(covering) == "-0.800"
    entries = covering.desk.do("GET", "/audit?limit=2")["items"]
    assert {each["action"] for each in entries} == {"settle_cover"}
    assert entries[-1]["text"].startswith(
        "cover settled by hand: buy 2 GOLDM, 1 of it at 71,250 INR, X17, 1 of it at 71,250 INR, X18"
    )
    assert settle(covering, none, NONE)["state"] == "dropped"
    covering.venue(mode="fill")
    third = cover(covering, "1", "k3")
    send(covering, third)
    becomes(covering, third, "filled")  # The node goes on, and does not send the others.
    assert executed(covering, made) == executed(covering, none) == []
    assert covering.desk.do("GET", "/hedge/breaks")["total"] == 0


def test_a_cover_is_settled_only_while_the_venue_cannot_be_asked(covering: Dealing) -> None:
    desk, made = covering.desk, unanswered(covering)
    path = f"/hedge/covers/{made['id']}/settle"

    def refused(body: Any, status: int = 422, code: str = "invalid_request", path: str = path) -> str:
        with nothing_changed(desk):
            return str(desk.refused("POST", path, body, status=status, code=code))

    for body in (
        {},
        {"outcome": "none"},
        {"outcome": "lost", "reason": "x"},
        NONE | {"fills": executed_as(("X1", "1"))["fills"]},
        executed_as(),
        executed_as(("X1", "1"), ("X1", "1")),
        executed_as(("X1", "3")),
        executed_as(("X1", "0.5")),
        executed_as(("", "1")),
        NONE | {"reason": " "},
    ):
        refused(body)
    refused(NONE, 404, "not_found", f"/hedge/covers/{covering.office.broker}/settle")
    viewer = covering.office.hire("viewer")
    viewer.refused("POST", path, NONE, status=403, code="role_too_low")
    suggested = cover(covering, key="k2")
    told = refused(NONE, 409, "conflict", f"/hedge/covers/{suggested['id']}/settle")
    assert told == "Only a cover that is sent can be settled; this one is suggested."
    covering.venue(mode="hold")
    told = refused(NONE, 409, "conflict")
    assert told == "The venue can be reached, and is being asked for this cover. Wait for its answer."
    covering.venue(mode="down")
    settle(covering, made, executed_as(("X1", "1")))
    assert "this one is partly" in refused(executed_as(("X2", "1")), 409, "conflict")
    other = unanswered(covering, "k4")
    until(
        lambda: (
            "recorded before"
            in desk.post(f"/hedge/covers/{other['id']}/settle", json=executed_as(("X1", "1"))).text
        ),
        within_s=ANSWER_S,
    )
    assert read(covering, other)["state"] == "sent"


def test_a_cover_without_a_rate_is_dropped_not_settled(covering: Dealing) -> None:
    covering.desk.do("PUT", "/hedge/contracts/SPOT", GOLDM | {"instrument": "MUMBAI"})
    made = cover(covering, contract="SPOT")
    covering.venue(mode="down")
    send(covering, made)
    path = f"/hedge/covers/{made['id']}/settle"
    told = covering.desk.refused("POST", path, NONE, status=409, code="conflict")
    assert told == "The venue cannot have this cover yet: drop it instead."
