"""Steps of a margin: one cell of the rate board moves, within the price guard, and races lose nothing."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.desk import Office, nothing_changed, refusal
from tests.support.price_slips import set_up

EMPTY = {"minimum": None, "maximum": None, "step": None}


def step(office: Office, by: str, side: str = "buy", symbol: str = "GOLD", **more: str) -> Any:
    body = {"symbol": symbol, "side": side, "by": by, **more}
    return office.desk.request("POST", "/groups/retail/margin", json=body)


def margins(office: Office, symbol: str = "GOLD") -> tuple[str, str]:
    (group,) = [each for each in office.desk.all("/groups") if each["code"] == "retail"]
    terms = group["terms"].get(symbol, group["default_terms"])
    return terms["buy_premium"], terms["sell_premium"]


def test_a_step_moves_one_symbol_on_one_side(office: Office) -> None:
    set_up(office)
    done = step(office, "10").json()
    assert (done["margin_before"], done["margin"]) == ("60.50", "70.50")
    assert done["terms"] == {"GOLD": {"buy_premium": "70.50", "sell_premium": "-463.00", **EMPTY}}
    assert [(row["symbol"], row["side"], row["old"], row["new"]) for row in done["prices"]] == [
        ("GOLD", "buy", "150541.00", "150551.00")
    ]
    # A client that sells gets less when the house earns more.
    done = step(office, "37", "sell", seen="463").json()
    assert (done["margin_before"], done["margin"]) == ("463.00", "500.00")
    assert [(row["side"], row["old"], row["new"]) for row in done["prices"]] == [
        ("sell", "150000.00", "149963.00")
    ]
    assert margins(office) == ("70.50", "-500.00")
    assert margins(office, "COIN") == ("60.50", "-463.00")
    entry = office.desk.do("GET", "/audit?limit=1")["items"][0]
    assert (entry["action"], entry["subject"]) == ("step_margin", "retail")
    # The last step can be taken back.
    office.desk.do("POST", f"/audit/{done['undo']['number']}/undo")
    assert margins(office) == ("70.50", "-463.00")


def test_a_step_into_a_loss_asks(office: Office) -> None:
    set_up(office)
    assert step(office, "-60.50").status_code == 200
    with nothing_changed(office.desk):
        asked = step(office, "-10")
        assert asked.status_code == 409
        detail = asked.json()["detail"]
        assert detail["code"] == "confirmation_required"
        assert [(row["problems"], row["loss"]) for row in detail["preview"]] == [(["losing"], "10.00")]
        # The word is about this step: it does not confirm a larger one.
        larger = {"symbol": "GOLD", "side": "buy", "by": "-20"}
        path = f"/groups/retail/margin?confirm={detail['fingerprint']}"
        assert office.desk.request("POST", path, json=larger).status_code == 409
    confirmed = office.desk.request("POST", path, json={"symbol": "GOLD", "side": "buy", "by": "-10"})
    assert confirmed.status_code == 200
    assert margins(office)[0] == "-10.00"
    # Nor does it confirm the next one: sent again, the same step would lose twice as much.
    with nothing_changed(office.desk):
        again = office.desk.request("POST", path, json={"symbol": "GOLD", "side": "buy", "by": "-10"})
        assert again.status_code == 409
        assert [row["loss"] for row in again.json()["detail"]["preview"]] == ["20.00"]


def test_a_step_is_about_the_margin_that_was_seen(office: Office) -> None:
    set_up(office)
    with nothing_changed(office.desk):
        message = refusal(step(office, "10", seen="60"), 409, "conflict")
        assert "is now 60.50, not 60.00" in message
    assert step(office, "10", seen="60.5").status_code == 200


def test_steps_at_one_moment_add_up_and_only_one_has_seen_the_margin(office: Office) -> None:
    set_up(office)
    with ThreadPoolExecutor(6) as dealers:
        answers = list(dealers.map(lambda _: step(office, "5").status_code, range(6)))
    assert answers == [200] * 6
    assert margins(office)[0] == "90.50"
    with ThreadPoolExecutor(6) as dealers:
        answers = list(dealers.map(lambda _: step(office, "5", seen="90.50").status_code, range(6)))
    assert sorted(answers) == [200, *[409] * 5]
    assert margins(office)[0] == "95.50"


REFUSED: dict[str, tuple[dict[str, Any], int, str]] = {
    "a step of 0": ({"by": "0.00"}, 422, "must not be 0"),
    "a step of tenths of a paisa": ({"by": "0.001"}, 422, "by"),
    "a float": ({"by": 1.5}, 422, "by"),
    "no side": ({"side": "both"}, 422, "side"),
    "a margin out of bounds": ({"by": "1000000000000"}, 422, "out of bounds"),
    "an unknown symbol": ({"symbol": "TIN"}, 404, "There is no symbol TIN."),
    "a side without a premium": ({"symbol": "COIN", "side": "sell"}, 409, "cannot sell COIN"),
}


@pytest.mark.parametrize(("wrong", "status", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_step(office: Office, wrong: dict[str, Any], status: int, words: str) -> None:
    set_up(office)
    office.desk.do("PATCH", "/groups/retail", {"terms": {"COIN": {"buy_premium": "5"}}})
    with nothing_changed(office.desk):
        body = {"symbol": "GOLD", "side": "buy", "by": "10", **wrong}
        answer = office.desk.request("POST", "/groups/retail/margin", json=body)
        assert answer.status_code == status
        assert words in answer.text
        assert office.desk.request("POST", "/groups/none/margin", json=body).status_code in (404, 422)
