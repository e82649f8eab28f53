"""Every entry of the audit trail is told in a sentence that a dealer reads."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bullion.desk.audit_sentences import entry_names, sentences, text_of
from bullion.desk.audit_wording.parts import KINDS, Ref, Units
from tests.support.dealing import Dealing
from tests.support.desk import KEY, SYMBOL, Office

UNITS = {"GOLD": Units("10 g", "g"), "SILVER": Units("1 kg", "kg")}


def said(office: Office) -> str:
    """The newest entry."""
    return str(office.desk.do("GET", "/audit?limit=1")["items"][0]["text"])


def told(action: str, subject: str, before: Any, after: Any) -> str:
    entry = {"action": action, "subject": subject, "before": before, "after": after}
    return text_of(sentences(entry, UNITS))


def test_an_entry_that_nothing_tells_is_told_by_its_text_and_subject() -> None:
    assert told("of_another_version", "asha", {}, {"odd": 1}) == "of another version: asha"
    assert told("patch_account", "asha", {"odd": 1}, {"odd": 1}) == (
        "changed an account: asha, nothing changed"
    )


def test_a_field_of_an_account_that_has_no_words_is_told_under_its_own_name() -> None:
    before, after = {"group": "retail", "pays_late": False}, {"group": "vip", "pays_late": True}
    assert told("patch_account", "asha", before, after) == (
        "asha: group retail → vip; asha: pays late no → yes"
    )


TERMS = {"buy_premium": "150.00", "sell_premium": "-150.00", "minimum": None, "maximum": None, "step": None}


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"buy_premium": "120.00"}, "retail: buy premium of GOLD ₹150 → ₹120 per 10 g"),
        ({"sell_premium": "-120.50"}, "retail: sell premium of GOLD −₹150 → −₹120.50 per 10 g"),
        ({"sell_premium": None}, "retail: sell premium of GOLD −₹150 per 10 g → none"),
        ({"maximum": "1500.0000"}, "retail: largest order of GOLD 1,500 g"),
        (
            {"buy_premium": "100000.00", "step": "0.5000"},
            "retail: buy premium of GOLD ₹150 → ₹1,00,000 per 10 g; retail: step of orders of GOLD 0.5 g",
        ),
    ],
)
@pytest.mark.parametrize("action", ["put_group", "patch_group"])
def test_a_premium_change_says_the_premium(action: str, changed: dict[str, Any], text: str) -> None:
    before = {"code": "retail", "trading": True, "terms": {"GOLD": TERMS}, "default_terms": None}
    after = {**before, "terms": {"GOLD": {**TERMS, **changed}}}
    assert told(action, "retail", before, after) == text


def test_an_empty_text_is_told_as_none() -> None:
    assert told("put_contract", "GOLDM", {"venue_symbol": "GOLDM"}, {"venue_symbol": ""}) == (
        "contract GOLDM: venue symbol GOLDM → none"
    )
    assert told("put_contract", "GOLDM", {}, {"venue_symbol": "", "mode": "suggest"}) == (
        "contract GOLDM: mode suggest"
    )


def test_the_time_of_a_pin_has_no_fraction() -> None:
    after = {
        "bid": "150400.000000",
        "ask": "150420.000000",
        "pinned_until": "2026-11-19T02:30:00.000000+00:00",
    }
    assert told("put_rate", "GOLD", None, after) == (
        "rate of GOLD set to 1,50,400 / 1,50,420, pinned until 2026-11-19T02:30:00+00:00"
    )


def test_a_move_of_a_broker_names_the_store() -> None:
    after = {"store": "db-b/bullion"}
    assert told("move_broker", "shree", None, after) == (
        "broker shree closed here, and moved to the store at db-b/bullion"
    )
    assert told("cancel_move", "shree", None, after) == (
        "broker shree open here again: it was not moved to the store at db-b/bullion"
    )


def test_the_public_page_is_told_beside_other_switches(office: Office) -> None:
    """It shows prices of a group to everybody, without a key."""
    office.desk.do("PUT", "/groups/walk-in", {})
    page = {"group": "retail", "title": "Our rates"}
    office.desk.do("PATCH", "/switches", {"halted": True, "public_rates": page})
    assert said(office) == "trading halted; public rate page shows the prices of retail, “Our rates”"
    office.desk.do("PATCH", "/switches", {"public_rates": {**page, "group": "walk-in"}})
    assert said(office) == "public rate page shows the prices of walk-in, “Our rates”"
    office.desk.do("PATCH", "/switches", {"halted": False, "public_rates": None})
    assert said(office) == "trading resumed; public rate page hidden"


def test_a_group_of_an_account_that_is_taken_back_is_told(office: Office) -> None:
    office.desk.do("PUT", "/groups/vip", {})
    office.desk.account("asha")
    done = office.desk.do("PATCH", "/accounts/asha", {"group": "vip"})
    assert said(office) == "asha: group retail → vip"
    entry = office.desk.do("GET", "/audit?limit=1")["items"][0]["ordinal"]
    office.desk.do("POST", f"/audit/{entry}/undo")
    assert done["group"] == "vip"
    assert said(office) == f"taken back (entry {entry}): asha: group vip → retail"


def test_what_was_confirmed_is_told() -> None:
    row = {
        "symbol": "SILVER",
        "group": "retail",
        "side": "sell",
        "unit": "1 kg",
        "old": "300.00",
        "new": "500.00",
        "problems": ["crossed"],
        "loss": "200.00",
    }
    moved = {**row, "problems": ["move"], "group": None, "unit": "", "side": "buy"}
    after = {"code": "retail", "trading": False, "terms": {}, "default_terms": None}
    confirmed = {"fingerprint": "abc", "prices": [row, moved, row, row, row], "prices_left_out": 3}
    assert told("patch_group", "retail", {**after, "trading": True}, {**after, "confirmed": confirmed}) == (
        "retail: trading switched off; after confirming: SILVER in retail crossed by ₹200 per 1 kg, "
        "SILVER buy ₹300 → ₹500, SILVER in retail crossed by ₹200 per 1 kg, and 5 more"
    )


@pytest.mark.parametrize("before", [None, {}, {"odd": 1}, {"terms": 5, "pricing": 7, "duties": "x"}])
@pytest.mark.parametrize(
    "after", [None, {"odd": [1]}, {"terms": {"GOLD": None}, "duties": [{}], "confirmed": {}}]
)
@pytest.mark.parametrize("action", [*entry_names(), "of_another_version"])
def test_entries_of_other_versions_are_told_somehow(action: str, before: Any, after: Any) -> None:
    assert told(action, "entry 7", before, after)


def test_the_market_in_words(office: Office) -> None:
    def after(method: str, path: str, body: Any) -> str:
        office.desk.do(method, path, body)
        return said(office)

    assert after("PUT", "/symbols/GOLD", SYMBOL).startswith(
        "symbol GOLD created; GOLD: prices are for 10 g; GOLD: pricing direct; GOLD: priced by GOLD; "
    )
    assert after("PATCH", "/symbols/GOLD", {"frozen": True}) == "GOLD frozen"
    assert after("PATCH", "/symbols/GOLD", {"frozen": False}) == "GOLD unfrozen"
    assert after("PATCH", "/symbols/GOLD", {"stock": "2500"}) == "GOLD: stock 2,500 g"
    assert after("PUT", "/rates/GOLD", {"bid": "150463", "ask": "150480.50"}) == (
        "rate of GOLD set to 1,50,463 / 1,50,480.5"
    )
    assert after("PUT", "/rates/GOLD", {"bid": "150464", "ask": "150480.50"}) == (
        "rate of GOLD set to 1,50,464 / 1,50,480.5 (before 1,50,463 / 1,50,480.5)"
    )
    terms = {"GOLD": {"buy_premium": "150", "sell_premium": "-150"}}
    assert after("PATCH", "/groups/retail", {"terms": terms}) == (
        "retail: buy premium of GOLD ₹150 per 10 g; retail: sell premium of GOLD −₹150 per 10 g"
    )
    terms["GOLD"]["buy_premium"] = "120"
    assert after("PATCH", "/groups/retail", {"terms": terms}) == (
        "retail: buy premium of GOLD ₹150 → ₹120 per 10 g"
    )
    number = office.desk.do("GET", "/audit?limit=1")["items"][0]["ordinal"]
    assert after("POST", f"/audit/{number}/undo", None) == (
        f"taken back (entry {number}): retail: buy premium of GOLD ₹120 → ₹150 per 10 g"
    )
    assert after("PUT", "/duties/gold", [{"from": "2026-05-13", "rupees": "6250"}]) == (
        "duty gold: ₹6,250 from 2026-05-13 on"
    )
    assert after("PATCH", "/switches", {"halted": True, "budgets": {"orders_per_minute": 1200}}) == (
        "trading halted; orders per minute 60 → 1,200"
    )
    assert after("PATCH", "/switches", {"halted": True}) == "changed switches: halted, nothing changed"
    streamed: dict[str, int | None] = {"quote_stream_interval_ms": 500}
    assert after("PATCH", "/switches", streamed) == "prices streamed every 500 ms"
    streamed["quote_stream_interval_ms"] = None
    assert after("PATCH", "/switches", streamed) == "prices no longer streamed"
    assert after("PATCH", "/hedge", {"mode": "hold"}) == "simulated venue: mode fill → hold"
    assert after("PATCH", "/hedge/book/gold", {"policy": "book", "limit": "2500"}) == (
        "hedge book of gold: policy book; hedge book of gold: limit 2,500 g; "
        "hedge book of gold: daily volatility 0 %"
    )
    assert after("PATCH", "/hedge/book/gold", {"limit": "3000.5"}) == (
        "hedge book of gold: limit 2,500 g → 3,000.5 g"
    )


def test_a_confirmed_loss_in_words(office: Office) -> None:
    office.desk.do("PUT", "/symbols/GOLD", SYMBOL)
    office.desk.do("PUT", "/rates/GOLD", {"bid": "150000", "ask": "150100"})
    terms = {"GOLD": {"buy_premium": "-100", "sell_premium": "200"}}
    asked = office.desk.patch("/groups/retail", json={"terms": terms})
    assert asked.status_code == 409, asked.text
    fingerprint = asked.json()["detail"]["fingerprint"]
    office.desk.do("PATCH", f"/groups/retail?confirm={fingerprint}", {"terms": terms})
    assert re.search("after confirming: GOLD in retail crossed by ₹[0-9,]+ per 10 g", said(office))


def test_what_protects_prices_is_not_told_as_a_price(dealing: Dealing) -> None:
    def confirmed(body: Any) -> str:
        asked = dealing.desk.patch("/switches", json=body)
        assert asked.status_code == 409, asked.text
        dealing.desk.do("PATCH", f"/switches?confirm={asked.json()['detail']['fingerprint']}", body)
        return said(dealing.office)

    assert confirmed({"price_move_percent_max": "10"}) == (
        "largest price move without asking 3 % → 10 %; after confirming: "
        "larger price moves without asking: GOLD by up to ₹7,124 per 10 g, "
        "larger price moves without asking: SILVER by up to ₹8,910.05 per 1 kg"
    )
    assert confirmed({"refuse_crossed": False}) == (
        "crossed prices are traded; after confirming: orders at crossed prices are accepted"
    )


def test_a_pin_of_the_rate_that_holds_is_told(office: Office) -> None:
    now = datetime.now(UTC)
    rate = {"bid": "150463", "ask": "150480.50", "at": (now - timedelta(seconds=1)).isoformat()}
    until = (now + timedelta(hours=1)).isoformat(timespec="seconds")
    office.desk.do("PUT", "/rates/GOLD", rate)
    office.desk.do("PUT", "/rates/GOLD", {**rate, "pin_until": until})
    assert said(office) == (
        f"rate of GOLD set to 1,50,463 / 1,50,480.5 (before 1,50,463 / 1,50,480.5), pinned until {until}"
    )
    office.desk.do("PUT", "/rates/GOLD", {**rate, "bid": "150000", "at": "2026-01-01T00:00:00Z"})
    assert said(office) == "rate of GOLD not set: there was a newer one"


def test_a_group_that_was_taken_back_is_told(office: Office) -> None:
    office.desk.do("PUT", "/groups/trade", {"default_terms": {"buy_premium": "5"}})
    office.desk.account("raja")
    office.desk.do("PATCH", "/accounts/raja", {"group": "trade"})
    assert said(office) == "raja: group retail → trade"
    number = office.desk.do("GET", "/audit?limit=1")["items"][0]["ordinal"]
    office.desk.do("POST", f"/audit/{number}/undo")
    assert said(office) == f"taken back (entry {number}): raja: group trade → retail"


def test_clients_and_users_in_words(office: Office) -> None:
    office.desk.account("raja", firm_name="Raja Jewellers")
    assert said(office).startswith("account raja created in group retail, Raja Jewellers; ")
    office.desk.do("PATCH", "/accounts/raja", {"active": False, "allocation": {"gold": "1500"}})
    assert said(office) == "raja: deactivated; raja: gold allocation 0 g → 1,500 g"
    key = office.desk.do("POST", "/accounts/raja/keys", KEY)
    assert said(office) == f"raja: API key {key['key_id']} issued for test, “a key”: account:read"
    new = office.desk.do("POST", f"/keys/{key['key_id']}/rotate", {})
    assert said(office) == f"raja: API key {key['key_id']} replaced by {new['key_id']}"
    office.desk.do("POST", f"/keys/{key['key_id']}/revoke", {})
    assert said(office) == f"raja: API key {key['key_id']} revoked"
    assert key["key"].rpartition(".")[2] not in str(office.desk.all("/audit"))
    office.desk.do("POST", "/accounts/raja/test-book/reset")
    assert said(office) == "raja: test book reset, 0 test orders archived"
    token = office.desk.do("POST", "/tokens", {"name": "Asha", "role": "viewer"})
    assert said(office) == "user Asha created as viewer"
    office.desk.do("PATCH", f"/tokens/{token['token_id']}", {"role": "dealer"})
    assert said(office) == "user Asha: role viewer → dealer"
    office.desk.do("DELETE", f"/tokens/{token['token_id']}")
    assert said(office) == "user Asha: deleted"
    office.desk.do("PUT", "/second-factor", {"required": "admins"})
    assert said(office) == "a second factor is needed by admins"


def test_orders_in_words(dealing: Dealing) -> None:
    order = dealing.placed(quantity="25")
    name = f"deal {order['deal_no']} of client, buy 25 g GOLD"
    assert said(dealing.office) == f"{name} placed by web at ₹71,240"
    dealing.do(order, "close")
    assert said(dealing.office) == f"{name} is being closed"
    dealing.do(order, "complete", {"close_price": "71300"})
    assert said(dealing.office) == f"{name} closed at ₹71,300, result of the client ₹150"
    other = dealing.placed(quantity="2")
    dealing.do(other, "delete", {"reason": "by mistake"})
    assert said(dealing.office) == f"deal {other['deal_no']} of client, buy 2 g GOLD deleted: by mistake"
    dealing.venue(mode="refuse")
    assert dealing.place(quantity="3").status_code == 409
    assert said(dealing.office) == (
        "order of client, buy 3 g GOLD placed by web at ₹71,240, and its hedge was refused"
    )


def test_a_repeated_call_does_not_read_as_a_second_deal(dealing: Dealing) -> None:
    dealing.desk.do("PATCH", "/hedge/book/gold", {"policy": "book", "limit": "1000"})
    contract = {"metal": "gold", "instrument": "GOLD", "lot": "100", "price_weight": "10"}
    dealing.desk.do("PUT", "/hedge/contracts/GOLDM", contract)
    cover = {"contract": "GOLDM", "side": "buy", "quantity": "2", "idempotency_key": "k1"}
    dollars = {"side": "buy", "dollars": "1000", "rate": "92", "reference": "B1", "idempotency_key": "k1"}
    for path, body, text in (
        ("covers", cover, "cover made: buy 2 GOLDM"),
        ("currency", dollars, "dollars for the gold book: buy 1,000 at 92, B1"),
    ):
        dealing.desk.do("POST", f"/hedge/{path}", body)
        assert said(dealing.office) == text
        dealing.desk.do("POST", f"/hedge/{path}", body)
        assert said(dealing.office) == f"{text}; nothing new: it was recorded before"


def test_references_are_of_known_kinds(dealing: Dealing) -> None:
    dealing.placed()
    entries = dealing.desk.all("/audit")
    kinds = {part.kind for entry in entries for each in sentences(entry, UNITS) for part in _refs(each)}
    assert {"account", "symbol", "order", "key"} <= kinds <= set(KINDS)


def _refs(sentence: list[str | Ref]) -> Iterator[Ref]:
    yield from (part for part in sentence if isinstance(part, Ref))
