"""The commands that only look: as tables, and as the very answers of the API."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.client.cli.shell import Shell
from tests.client.cli.shop import Shop

HOSTILE = "a\x1b[31mred\x1b]0;x\x07\u202e[b]"
SHOWN = "a\\x1b[31mred\\x1b]0;x\\x07\\u202e[b]"
LOCAL = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+05:30"


def test_me(shell: Shell, shop: Shop) -> None:
    facts = shell.done("me").facts
    told = shop.answer(shell.key, "/me")
    assert facts["login id"] == told["login_id"]
    assert facts["key id"] == told["key_id"] == shell.key.split(".")[2]
    assert facts["environment"] == "test"
    assert facts["scopes"] == "account:read, orders:read, orders:write"
    assert facts["production trading available"] == "yes"
    assert shell.done("me", "--json").json == told


def test_symbols(shell: Shell, shop: Shop) -> None:
    head, gold, silver = shell.done("symbols").rows
    assert head[:2] == ["symbol", "metal"]
    assert gold == ["GOLD", "gold", "0.0001", "1000000.0000", "0.0001", "g", "10 g", "buy, sell", "yes"]
    assert silver[5:7] == ["kg", "1 kg"]
    assert shell.done("symbols", "--json").json == shop.answer(shell.key, "/symbols")


def test_quotes(shell: Shell, shop: Shop) -> None:
    done = shell.done("quote")
    assert done.rows[1] == ["GOLD", "71,240.00", "71,230.00", "10 g", "yes", "-"]
    assert done.rows[2] == ["SILVER", "89,100.50", "89,000.25", "1 kg", "yes", "-"]
    assert [row[0] for row in shell.done("quote", "SILVER").rows] == ["symbol", "SILVER"]
    assert len(shell.done("quote", "GOLD", "SILVER").rows) == 3
    assert shell.done("quote", "--json").json == shop.answer(shell.key, "/quotes")
    only = shell.done("quote", "GOLD", "--json").json
    assert only == shop.answer(shell.key, "/quotes?symbol_code=GOLD")


def test_numbers_stand_below_each_other(shell: Shell) -> None:
    _, gold, silver = shell.done("quote").out.splitlines()
    assert gold.index(".") == silver.index(".")


def test_a_quote_that_cannot_be_traded_says_why(shell: Shell, shop: Shop) -> None:
    shop.desk.do("PATCH", "/symbols/SILVER", {"frozen": True})
    try:
        (_, row) = shell.done("quote", "SILVER").rows
        assert row[4] == "no: symbol_frozen"
    finally:
        shop.desk.do("PATCH", "/symbols/SILVER", {"frozen": False})


def test_a_quote_of_what_is_not_there_is_refused_and_the_others_are_shown(shell: Shell) -> None:
    done = shell.failed(3, "quote", "GOLD", "TIN", "LEAD")
    assert done.rows[1][0] == "GOLD"
    there_are = "Codes are case-sensitive. Symbols: GOLD, SILVER."
    assert done.err == f"bullion-client: There is no symbol TIN and no LEAD. {there_are}\n"
    failed = shell.failed(3, "quote", "gold", "--json")
    assert failed.json == {"items": []}
    assert failed.error["code"] == "unknown_symbol"
    assert failed.error["message"] == f"There is no symbol gold. {there_are}"


def test_an_order_for_what_is_not_there_says_where_the_codes_are(shell: Shell) -> None:
    told = shell.failed(3, "buy", "gold", "5").err
    assert "unknown_symbol (404)" in told
    assert "Run 'bullion-client symbols' to list the codes. They are case-sensitive." in told


def test_orders_of_what_is_not_there_are_none_and_the_reason_is_told(shell: Shell) -> None:
    done = shell.run("orders", "--symbol", "gold")
    assert (done.code, done.out) == (0, "No matching orders.\n")
    assert done.err == "There is no symbol gold. Codes are case-sensitive. Symbols: GOLD, SILVER.\n"
    assert shell.done("orders", "--symbol", "GOLD").out == "No matching orders.\n"
    assert shell.done("orders", "--symbol", "gold", "--json").json == {"items": [], "total": 0}


def test_orders_and_their_filters(shell: Shell, shop: Shop) -> None:
    assert shell.done("orders").out == "No matching orders.\n"
    for words in (("buy", "GOLD", "5"), ("sell", "SILVER", "2.5"), ("buy", "GOLD", "7")):
        shell.done(*words, "--client-order-id", HOSTILE)
    listed = shell.done("orders")
    assert listed.rows[0][:4] == ["deal", "time", "side", "quantity"]
    assert [row[0] for row in listed.rows[1:]] == ["T-3", "T-2", "T-1"]
    newest = listed.rows[1]
    assert re.fullmatch(LOCAL, newest[1])
    assert newest[2:9] == ["buy", "7.0000", "g", "GOLD", "71,240.00", "49,868.00", "filled"]
    assert newest[10] == SHOWN
    assert shell.done("orders", "--json").json == shop.answer(shell.key, "/orders")
    assert shell.done("orders", "--all", "--json").json == shop.answer(shell.key, "/orders")
    assert shell.done("orders", "--status", "all", "--json").json == shop.answer(shell.key, "/orders")

    def deals(*words: str) -> list[str]:
        return [order["deal_label"] for order in shell.done("orders", *words, "--json").json["items"]]

    assert deals("--symbol", "SILVER") == ["T-2"]
    assert deals("--side", "buy") == ["T-3", "T-1"]
    assert deals("--client-order-id", HOSTILE) == ["T-3", "T-2", "T-1"]
    assert deals("--client-order-id", "other") == []
    assert deals("--limit", "1", "--offset", "1") == ["T-2"]
    assert deals("--all", "--side", "buy") == ["T-3", "T-1"]
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert deals("--since", tomorrow.isoformat()) == []
    assert deals("--since", "2026-01-01") == ["T-3", "T-2", "T-1"]
    page = shell.run("orders", "--limit", "2")
    assert (page.code, len(page.rows)) == (0, 3)
    assert page.err == "2 of 3. For more, use --limit, --offset or --all.\n"
    assert shell.done("orders", "--offset", "9").out == "No orders from offset 9 on; there are 3.\n"


def test_one_order(shell: Shell, shop: Shop) -> None:
    order_id = shell.done("buy", "GOLD", "5", "--client-order-id", HOSTILE, "--json").json["id"]
    facts = shell.done("order", order_id).facts
    assert facts["deal"] == "T-1"
    assert (facts["quantity"], facts["price ₹"], facts["total ₹"]) == ("5.0000 g", "71,240.00", "35,620.00")
    assert re.fullmatch(LOCAL, facts["created at"])
    assert facts["client order id"] == SHOWN
    assert shell.done("order", order_id, "--json").json == shop.answer(shell.key, f"/orders/{order_id}")
    assert shell.done("order", order_id, "--wait").facts == facts


def test_an_order_that_is_not_there(shell: Shell) -> None:
    done = shell.failed(3, "order", "01a1de23-96a5-7be9-bf2f-390000000001")
    assert done.err.startswith("bullion-client: order_not_found (404): ")
    assert "is not a valid UUID" in shell.failed(2, "order", "../me").err


def test_positions(shell: Shell, shop: Shop) -> None:
    shell.done("buy", "GOLD", "5")
    shell.done("sell", "SILVER", "0.0001")
    _, gold, silver = shell.done("positions").rows
    assert gold == ["gold", "5.0000", "5.0000", "999995.0000", "1000000.0000", "g"]
    assert silver == ["silver", "-0.0001", "0.0001", "999999.9999", "1000000.0000", "kg"]
    assert shell.done("positions", "--json").json == shop.answer(shell.key, "/positions")


def test_in_production(live_shell: Shell, shop: Shop) -> None:
    shell = live_shell
    order_id = shell.done("buy", "GOLD", "5", "--yes", "--json").json["id"]
    shop.desk.do("POST", f"/orders/{order_id}/close")
    shop.desk.do("POST", f"/orders/{order_id}/complete", {"close_price": "71000.00"})
    facts = shell.done("order", order_id).facts
    assert (facts["status"], facts["status detail"]) == ("closed", "SETTLED")
    assert (facts["close price ₹"], facts["realized p&l ₹"]) == ("71,000.00", "-120.00")
    shell.done("sell", "SILVER", "2", "--yes")
    for words in (("me",), ("symbols",), ("quote",), ("orders",), ("positions",)):
        told = shop.answer(shell.key, "/quotes" if words == ("quote",) else f"/{words[0]}")
        assert shell.done(*words, "--json").json == told
    assert shell.done("order", order_id, "--json").json == shop.answer(shell.key, f"/orders/{order_id}")
    assert shell.done("positions").rows[-1] == ["SILVER", "silver", "0.0000", "2.0000", "-2.0000", "kg"]
    assert [row[8] for row in shell.done("orders", "--status", "closed").rows] == ["status", "closed"]
    assert shell.done("orders", "--status", "rejected").out == "No matching orders.\n"


@pytest.mark.parametrize("words", [("me",), ("orders",), ("quote",), ("positions",), ("symbols",)])
def test_a_key_that_does_not_count(shell: Shell, words: tuple[str, ...]) -> None:
    done = shell.failed(3, *words, "--json", BULLION_API_KEY=shell.key[:-1] + "x")
    assert done.out == ""
    assert done.error["code"] in ("malformed_credential", "invalid_credential")
    assert done.error["status"] == 401
