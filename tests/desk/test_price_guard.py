"""The price guard over HTTP: slips ask first, with the loss in rupees, and nothing is done without a word."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.support.dealing import Dealing
from tests.support.desk import SYMBOL, Office, nothing_changed, refusal
from tests.support.node import until
from tests.support.orders import Trader, refused
from tests.support.price_slips import FIXED, NEVER_STALE, STAFF, TERMS, india, set_up

SLIPS: dict[str, tuple[str, str, Any, str, set[str], str]] = {
    "a duty with a digit too many": (
        "PUT",
        "/duties/customs",
        [{"from": india(-9), "rupees": "83500"}],
        "GOLDLANDED",
        {"move"},
        "75150.00",
    ),
    "a duty of tomorrow with a digit too many": (
        "PUT",
        "/duties/customs",
        [{"from": india(-9), "rupees": "8350"}, {"from": india(1), "rupees": "83500"}],
        "GOLDLANDED",
        {"move"},
        "75150.00",
    ),
    "a sell premium without its minus": (
        "PUT",
        "/groups/retail",
        {"default_terms": TERMS | {"sell_premium": "463"}},
        "GOLD",
        {"crossed", "losing"},
        "463.00",
    ),
    "fixed prices the wrong way round": (
        "PATCH",
        "/symbols/COIN",
        {"pricing": {"kind": "fixed", "buy": "146000", "sell": "151000"}},
        "COIN",
        {"crossed", "move"},
        "5000.00",
    ),
    "silver on gold": (
        "PATCH",
        "/symbols/GOLD",
        {"pricing": {"kind": "direct", "instrument": "SILVER"}},
        "GOLD",
        {"move"},
        "29537.00",
    ),
    "the price of 10 g for 1 g": (
        "PATCH",
        "/symbols/GOLD",
        {"quoted_weight": "1"},
        "GOLD",
        {"move"},
        "135000.00",
    ),
    "a tolerance of 50 percent": (
        "PATCH",
        "/switches",
        {"price_tolerance_percent": "50"},
        "GOLD",
        {"tolerance"},
        "75240.25",
    ),
    "a limit of moves of 50 percent": (
        "PATCH",
        "/switches",
        {"price_move_percent_max": "50"},
        "GOLD",
        {"limit"},
        "75240.25",
    ),
    "an account in the wrong group": (
        "PATCH",
        "/accounts/aurum",
        {"group": "staff"},
        "COIN",
        {"losing"},
        "500.00",
    ),
    "a rate with a digit too few": (
        "PUT",
        "/rates/GOLD",
        {"bid": "15046.30", "ask": "15048.05"},
        "GOLD",
        {"move"},
        "135432.45",
    ),
}


@pytest.mark.parametrize(("method", "path", "body", "symbol", "problems", "loss"), SLIPS.values(), ids=SLIPS)
def test_a_slip_asks_names_the_loss_and_does_nothing_until_it_is_confirmed(
    office: Office, method: str, path: str, body: Any, symbol: str, problems: set[str], loss: str
) -> None:
    set_up(office)
    desk = office.desk
    with nothing_changed(desk):
        asked = detail(desk.request(method, path, json=body))
        for wrong in ("", "0" * 12, asked["fingerprint"].upper() + "x"):
            assert detail(desk.request(method, path, json=body, params={"confirm": wrong}))["preview"]
    found = [row for row in asked["preview"] if row["symbol"] == symbol and row["unit"]]
    assert {each for row in found for each in row["problems"]} == problems
    assert loss in {row["loss"] for row in found}
    assert loss in asked["message"] or symbol not in asked["message"]
    assert f"confirm={asked['fingerprint']}" in asked["message"]
    done = desk.request(method, path, json=body, params={"confirm": asked["fingerprint"]})
    assert done.status_code == 200, done.text
    assert done.json()["prices"] == asked["preview"]
    entry = desk.do("GET", "/audit?limit=1")["items"][0]
    assert entry["after"]["confirmed"]["fingerprint"] == asked["fingerprint"]
    assert entry["after"]["confirmed"]["prices"] == [row for row in asked["preview"] if row["problems"]]
    # What was confirmed holds for exactly that: the same again changes nothing, and needs no word.
    again = desk.request(method, path, json=body)
    assert again.status_code == 200
    assert "prices" not in again.json()


def detail(answer: httpx.Response) -> Any:
    assert answer.status_code == 409, answer.text
    found = answer.json()["detail"]
    assert found["code"] == "confirmation_required"
    assert found.keys() == {"code", "message", "fingerprint", "preview"}
    return found


def test_a_preview_has_every_price_that_moves_per_its_unit(office: Office) -> None:
    set_up(office)
    body = {"default_terms": TERMS | {"sell_premium": "500"}, "terms": {"COIN": TERMS}}
    asked = detail(office.desk.request("PUT", "/groups/retail", json=body))
    assert [(row["symbol"], row["side"]) for row in asked["preview"]] == [
        ("GOLD", "sell"),
        ("GOLDLANDED", "sell"),
    ]
    assert asked["preview"][0] == {
        "symbol": "GOLD",
        "group": "retail",
        "side": "sell",
        "unit": "10 g",
        "old": "150000.00",
        "new": "150963.00",
        "move_percent": "0.6420",
        "spread_before": "541.00",
        "spread_after": "-422.00",
        "problems": ["crossed", "losing"],
        "loss": "500.00",
        "from": None,
    }


def test_an_ordinary_change_is_made_at_once_and_tells_what_moved(office: Office) -> None:
    set_up(office)
    made = office.desk.put("/groups/retail", json={"default_terms": TERMS | {"buy_premium": "100"}})
    assert made.status_code == 200, made.text
    rows = made.json()["prices"]
    assert [(row["symbol"], row["old"], row["new"]) for row in rows if row["symbol"] == "GOLD"] == [
        ("GOLD", "150541.00", "150580.50")
    ]
    assert {row["side"] for row in rows} == {"buy"}
    assert all(row["problems"] == [] and row["loss"] == "0.00" for row in rows)
    assert "confirmed" not in office.desk.do("GET", "/audit?limit=1")["items"][0]["after"]


def test_a_tick_between_preview_and_confirmation_does_not_ask_again(office: Office) -> None:
    set_up(office)
    body = {"default_terms": TERMS | {"sell_premium": "463"}}
    asked = detail(office.desk.put("/groups/retail", json=body))
    office.desk.do("PUT", "/rates/GOLD", {"bid": "150470", "ask": "150490"})
    done = office.desk.put("/groups/retail", json=body, params={"confirm": asked["fingerprint"]})
    assert done.status_code == 200, done.text


def test_a_new_problem_or_another_value_asks_again(office: Office) -> None:
    set_up(office)
    body = {"default_terms": TERMS | {"sell_premium": "463"}}
    asked = detail(office.desk.put("/groups/retail", json=body))
    other = {"default_terms": TERMS | {"sell_premium": "464"}}
    office.desk.do("PUT", "/symbols/SECOND", NEVER_STALE)
    for again in (other, body):
        answer = office.desk.put("/groups/retail", json=again, params={"confirm": asked["fingerprint"]})
        assert detail(answer)["fingerprint"] != asked["fingerprint"]
        assert "not what would happen" in detail(answer)["message"]


def test_an_account_goes_to_the_terms_that_were_shown(office: Office) -> None:
    """It is sent by the name of its group, whose terms somebody has changed since."""
    set_up(office)
    body = {"group": "staff"}
    asked = detail(office.desk.patch("/accounts/aurum", json=body))
    assert "500.00" in losses(asked)
    worse = {"COIN": STAFF | {"buy_premium": "-1400"}}
    office.desk.do("PATCH", "/groups/staff", {"terms": worse})
    with nothing_changed(office.desk):
        answer = office.desk.patch("/accounts/aurum", json=body, params={"confirm": asked["fingerprint"]})
        assert "1400.00" in losses(detail(answer))
        assert "not what would happen" in detail(answer)["message"]
    params = {"confirm": detail(answer)["fingerprint"]}
    assert office.desk.patch("/accounts/aurum", json=body, params=params).status_code == 200


def losses(asked: Any) -> set[str]:
    return {row["loss"] for row in asked["preview"]}


def test_the_limit_is_the_brokers(office: Office) -> None:
    set_up(office)
    office.desk.do("PATCH", "/switches", {"price_move_percent_max": "60"})
    duty = [{"from": india(-9), "rupees": "83500"}]
    assert office.desk.put("/duties/customs", json=duty).status_code == 200
    office.desk.do("PATCH", "/switches", {"price_move_percent_max": "0"})
    detail(office.desk.put("/groups/retail", json={"default_terms": TERMS | {"buy_premium": "60.51"}}))


def test_a_crossed_offer_is_flagged_counted_and_not_traded_unless_the_broker_says_so(
    office: Office, trader: Trader
) -> None:
    desk = office.desk
    desk.do("PUT", "/rates/GOLD", {"bid": "150000", "ask": "150020"})
    desk.do("PUT", "/symbols/GOLD", NEVER_STALE)
    desk.do("PUT", "/groups/retail", {"default_terms": {"buy_premium": "-5", "sell_premium": "5"}})
    trader.buy(1)
    assert desk.all("/quotes")[0]["crossed"] == []
    # The feed's bid and ask come closer: nobody at the desk changed a premium.
    desk.do("PUT", "/rates/GOLD", {"bid": "150000", "ask": "150009"})
    assert desk.all("/quotes")[0]["crossed"] == ["retail"]
    counted = f'bullion_offers_crossed{{broker="{office.broker}"}} 1.0'
    until(lambda: counted in httpx.get(f"{office.node.desk_url}/metrics").text, within_s=5)
    for side in ("buy", "sell"):
        refused(trader.place(trade_type=side), "pricing_unavailable")
    quote = trader.quote()
    assert (quote["tradable"], quote["reason"]) == (False, "pricing_unavailable")
    # That takes a second word, which names the loss.
    with nothing_changed(desk):
        asked = detail(desk.patch("/switches", json={"refuse_crossed": False}))
    assert [(row["symbol"], row["group"], row["loss"]) for row in asked["preview"]] == [
        ("GOLD", "retail", "1.00")
    ]
    assert "1.00 rupees per 10 g of GOLD for retail" in asked["message"]
    desk.do("PATCH", "/switches", {"refuse_crossed": False})
    trader.buy(1)
    trader.sell(1)
    # So does the way back to that.
    desk.do("PATCH", "/switches", {"refuse_crossed": True})
    number = desk.do("GET", "/audit?limit=1")["items"][0]["ordinal"]
    with nothing_changed(desk):
        assert detail(desk.post(f"/audit/{number}/undo"))["preview"] == asked["preview"]


def test_a_margin_that_loses_asks_before_there_is_a_price(office: Office) -> None:
    """The feed would bring the price later, and ask nobody."""
    desk = office.desk
    desk.do("PUT", "/symbols/GOLD", NEVER_STALE)
    desk.do("PUT", "/groups/retail", {"default_terms": TERMS})
    slip = {"default_terms": TERMS | {"sell_premium": "463"}}
    with nothing_changed(desk):
        asked = detail(desk.patch("/groups/retail", json=slip))
    (row,) = asked["preview"]
    assert (row["symbol"], row["side"], row["new"], row["problems"]) == ("GOLD", "sell", None, ["losing"])
    assert "a client sells, as soon as there is a price" in asked["message"]
    assert "You lose 463.00 rupees per 10 g." in asked["message"]
    params = {"confirm": asked["fingerprint"]}
    assert desk.patch("/groups/retail", json=slip, params=params).status_code == 200
    with nothing_changed(desk):
        (row,) = detail(desk.put("/symbols/BAR", json=NEVER_STALE))["preview"]
    assert (row["symbol"], row["problems"]) == ("BAR", ["losing"])
    # Not again for what was confirmed, nor for a side that the symbol does not offer.
    wider = {"default_terms": slip["default_terms"] | {"buy_premium": "70"}}
    assert desk.patch("/groups/retail", json=wider).status_code == 200
    desk.do("PATCH", "/symbols/GOLD", {"sides": ["buy"]})
    worse = {"default_terms": wider["default_terms"] | {"sell_premium": "500"}}
    assert desk.patch("/groups/retail", json=worse).status_code == 200


# --- Closing prices --------------------------------------------------------------------------------------


def test_a_closing_price_far_from_the_market_asks(dealing: Dealing) -> None:
    order, desk = dealing.placed(), dealing.desk
    path = f"/orders/{order['id']}/complete"
    dealing.do(order, "close")
    far = f"{float(order['price']) * 10:.2f}"
    with nothing_changed(desk):
        asked = detail(desk.post(path, json={"close_price": far}))
    (row,) = asked["preview"]
    assert (row["side"], row["new"], row["problems"]) == ("sell", far, ["move"])
    assert row["loss"] in asked["message"]
    answer = desk.post(path, json={"close_price": far}, params={"confirm": asked["fingerprint"]})
    assert answer.json()["status"] == "closed"
    assert "undo" not in answer.json()


# --- Taking back -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("slip", SLIPS)
def test_a_change_of_prices_is_taken_back_whole(office: Office, slip: str) -> None:
    set_up(office)
    method, path, body, *_ = SLIPS[slip]
    before = state(office)
    undo = office.desk.do(method, path, body)["undo"]
    assert datetime.fromisoformat(undo["until"]) > datetime.now(UTC)
    assert state(office) != before
    back = office.desk.post(f"/audit/{undo['number']}/undo")
    assert back.status_code == 200, back.text
    assert state(office) == before
    last = office.desk.do("GET", "/audit?limit=1")["items"][0]
    assert (last["action"], last["subject"]) == ("undo_change", f"entry {undo['number']}")
    # Once only: it is no longer as the change left it.
    assert "changed again" in refusal(office.desk.post(f"/audit/{undo['number']}/undo"), 409, "conflict")


def state(office: Office) -> Any:
    """Of what prices are made; without the times of rates, which only go forward."""
    found = {path: office.desk.all(path) for path in ("/symbols", "/groups", "/duties", "/accounts")}
    rates = [(each["instrument"], each["bid"], each["ask"]) for each in office.desk.all("/rates")]
    return found, rates, office.desk.do("GET", "/switches")


def test_only_its_maker_or_an_admin_takes_a_change_back(office: Office) -> None:
    set_up(office)
    dealer, viewer = office.hire("dealer"), office.hire("viewer")
    other = office.caller(
        office.desk.do("POST", "/tokens", {"name": "another dealer", "role": "dealer"})["token"]
    )
    number = dealer.do("PUT", "/rates/GOLD", {"bid": "150400", "ask": "150420"})["undo"]["number"]
    refusal(viewer.post(f"/audit/{number}/undo"), 403, "role_too_low")
    assert "made this change" in refusal(other.post(f"/audit/{number}/undo"), 403, "role_too_low")
    assert dealer.do("POST", f"/audit/{number}/undo")["bid"] == "150463.000000"
    again = dealer.do("PUT", "/rates/GOLD", {"bid": "150400", "ask": "150420"})["undo"]["number"]
    assert office.desk.do("POST", f"/audit/{again}/undo")["bid"] == "150463.000000"


def test_a_change_that_was_made_again_by_another_is_not_taken_back(office: Office) -> None:
    """It is as the first change left it, but that was taken back: this one is somebody else's."""
    set_up(office)
    dealer = office.hire("dealer")
    raised = {"default_terms": TERMS | {"buy_premium": "100"}}
    number = dealer.do("PATCH", "/groups/retail", raised)["undo"]["number"]
    dealer.do("POST", f"/audit/{number}/undo")
    theirs = office.desk.do("PATCH", "/groups/retail", raised)["undo"]["number"]
    with nothing_changed(office.desk):
        assert "changed again" in refusal(dealer.post(f"/audit/{number}/undo"), 409, "conflict")
    # Changes that were all taken back are no obstacle.
    lowered = {"default_terms": TERMS | {"buy_premium": "90"}}
    later = office.desk.do("PATCH", "/groups/retail", lowered)["undo"]["number"]
    with nothing_changed(office.desk):
        assert "changed again" in refusal(office.desk.post(f"/audit/{theirs}/undo"), 409, "conflict")
    for each in (later, theirs):
        office.desk.do("POST", f"/audit/{each}/undo")
    (retail,) = [each for each in office.desk.all("/groups") if each["code"] == "retail"]
    assert retail["default_terms"]["buy_premium"] == "60.50"


def test_what_cannot_be_taken_back_says_what_to_do_instead(office: Office) -> None:
    set_up(office)
    desk = office.desk
    desk.do("PUT", "/groups/new", {"default_terms": TERMS})
    assert "created by this change" in undo_refused(office)
    desk.do("PATCH", "/symbols/GOLD", {"frozen": True})
    assert "moved no prices" in undo_refused(office)
    desk.do("PATCH", "/switches", {"halted": True})
    assert "moved no prices" in undo_refused(office)
    desk.account("somebody")
    assert "not a change of prices" in undo_refused(office)
    desk.do("PUT", "/rates/GOLD", {"bid": "150000", "ask": "150010"})
    desk.do("PUT", "/symbols/GOLD", SYMBOL | {"rate_age_s_max": 30})
    old = (datetime.now(UTC) - timedelta(minutes=10)).isoformat()
    desk.do("PUT", "/rates/OLD", {"bid": "1", "ask": "1", "at": old})
    desk.do("PUT", "/symbols/OLD", SYMBOL | {"pricing": {"kind": "direct", "instrument": "OLD"}})
    desk.do("PUT", "/rates/OLD", {"bid": "2", "ask": "2"})
    assert "too old for OLD" in undo_refused(office)
    refusal(desk.post("/audit/999999/undo"), 404, "not_found")
    refusal(desk.post("/audit/last/undo"), 422, "invalid_request")


def undo_refused(office: Office) -> str:
    number = office.desk.do("GET", "/audit?limit=1")["items"][0]["ordinal"]
    with nothing_changed(office.desk):
        return refusal(office.desk.post(f"/audit/{number}/undo"), 409, "conflict")


def test_taking_back_into_a_crossed_price_asks(office: Office) -> None:
    """What was harmless before is not, after something else changed."""
    set_up(office)
    desk = office.desk
    zero = {"default_terms": {"buy_premium": "0", "sell_premium": "0"}}
    desk.do("PUT", "/groups/retail", zero)
    lowered = {"default_terms": {"buy_premium": "0", "sell_premium": "-2000"}}
    number = desk.do("PUT", "/groups/retail", lowered)["undo"]["number"]
    desk.do("PATCH", "/symbols/COIN", {"pricing": FIXED | {"sell": "152000"}})
    with nothing_changed(desk):
        asked = detail(desk.post(f"/audit/{number}/undo"))
    assert {tuple(row["problems"]) for row in asked["preview"] if row["symbol"] == "COIN"} == {("crossed",)}
    params = {"confirm": asked["fingerprint"]}
    assert desk.post(f"/audit/{number}/undo", params=params).status_code == 200
