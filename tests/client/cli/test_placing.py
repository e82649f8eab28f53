"""Buying and selling: what is booked, what is refused, and which exit code says so."""

import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.client.cli.lossy_proxy import LossyProxy, line_to
from tests.client.cli.shell import Shell
from tests.client.cli.shop import Shop
from tests.client.stub_server import serving
from tests.support.production import WIDE_OPEN

TERMS = {"buy_premium": "0", "sell_premium": "0"}


@pytest.fixture
def line(shell: Shell, shop: Shop) -> Iterator[LossyProxy]:
    """The shell's way to the service leads over it."""
    with line_to(shop.api_url) as line:
        shell.base_url = line.url
        yield line


# --- Booked ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("side", "total"), [("buy", "35,620.00"), ("sell", "35,615.00")])
def test_an_order(shell: Shell, shop: Shop, side: str, total: str) -> None:
    facts = shell.done(side, "GOLD", "5").facts
    assert (facts["side"], facts["status"], facts["total ₹"]) == (side, "filled", total)
    (order,) = shop.orders(shell.key)
    assert (order["id"], order["quantity"]) == (facts["id"], "5.0000")


def test_as_json_it_is_the_order_as_the_api_tells_it(shell: Shell, shop: Shop) -> None:
    order = shell.done("buy", "SILVER", "0.5", "--client-order-id", "till 7", "--json").json
    assert order == shop.answer(shell.key, f"/orders/{order['id']}")
    assert (order["quantity"], order["client_order_id"]) == ("0.5000", "till 7")


def test_under_one_key_there_is_one_order(shell: Shell, shop: Shop) -> None:
    words = ("buy", "GOLD", "5", "--idempotency-key", "once", "--json")
    first = shell.done(*words).json
    assert shell.done(*words).json == first
    assert shell.done(*words, "--no-journal").json == first
    assert len(shop.orders(shell.key)) == 1
    other = shell.failed(3, "buy", "GOLD", "6", "--idempotency-key", "once")
    assert other.err.startswith("bullion-client: idempotency_key_reused (422)")
    assert "This key was used with another body" in other.err


def test_without_one_there_are_two(shell: Shell, shop: Shop) -> None:
    shell.done("buy", "GOLD", "5")
    shell.done("buy", "GOLD", "5")
    assert len(shop.orders(shell.key)) == 2


def test_the_expected_price_protects(shell: Shell, shop: Shop) -> None:
    shell.done("buy", "GOLD", "5", "--expected-price", "71240")
    done = shell.failed(3, "buy", "GOLD", "5", "--expected-price", "60000.50", "--json")
    assert done.out == ""
    assert done.error["code"] == "price_moved"
    assert done.error["exit_code"] == 3
    assert done.error["intent"]["expected_price"] == "60000.5"
    assert len(shop.orders(shell.key)) == 1


def test_what_was_noted_holds_no_secret_and_only_its_owner_may_read_it(shell: Shell) -> None:
    shell.done("buy", "GOLD", "5", "--client-order-id", "mine")
    shell.failed(3, "buy", "TIN", "5")
    (journal,) = shell.journals()
    noted = journal.read_text("ascii")
    assert '"mine"' in noted
    secret = shell.key.rpartition(".")[2]
    assert secret not in noted
    assert secret not in journal.name
    assert journal.stat().st_mode & 0o777 == 0o600
    assert journal.parent.stat().st_mode & 0o777 == 0o700
    assert shell.unsettled() == []


def test_each_account_has_a_journal_and_a_rotated_key_the_same(shell: Shell, shop: Shop) -> None:
    login_id = shell.done("me").facts["login id"]
    shell.done("buy", "GOLD", "5")
    shell.key = shop.key(login_id)
    shell.done("buy", "GOLD", "5")
    assert len(shell.journals()) == 1
    shell.key = shop.key(shop.account())
    shell.done("buy", "GOLD", "5")
    assert len(shell.journals()) == 2


def test_a_journal_of_ones_own_and_none(shell: Shell, shop: Shop, tmp_path: Path) -> None:
    shell.done("buy", "GOLD", "5", "--no-journal")
    assert shell.journals() == []
    shell.done("buy", "GOLD", "5", "--journal", str(tmp_path / "mine"))
    assert shell.journals() == []
    shell.key = shop.key(shop.account())
    other = shell.failed(2, "buy", "GOLD", "5", "--journal", str(tmp_path / "mine"))
    assert "is the journal of" in other.err
    assert shop.orders(shell.key) == []


@pytest.mark.parametrize("content", [b'{"a": 1}\n', None])
def test_a_journal_that_is_none_is_left_alone(
    shell: Shell, shop: Shop, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "file"
    if content is None:
        path = tmp_path / "there/is/no/folder"
    else:
        path.write_bytes(content)
    done = shell.failed(2, "buy", "GOLD", "5", "--journal", str(path))
    assert f"The journal {path} cannot be used, so nothing was sent" in done.err
    assert shop.orders(shell.key) == []
    if content is not None:
        assert path.read_bytes() == content


def test_a_key_that_may_not_say_whose_it_is_can_do_without_a_journal(shell: Shell, shop: Shop) -> None:
    shell.key = shop.key(shop.account(), scopes=["orders:write", "orders:read"])
    done = shell.failed(3, "buy", "GOLD", "5")
    assert "insufficient_scope" in done.err
    assert "--no-journal" in done.err
    assert shop.orders(shell.key) == []
    shell.done("buy", "GOLD", "5", "--no-journal")


# --- Refused: 3 -----------------------------------------------------------------------------------------


def test_refusals_say_what_helps(shell: Shell, shop: Shop) -> None:
    shell.key = shop.key(shop.account(allocation={"gold": "10", "silver": "0"}))
    done = shell.failed(3, "buy", "GOLD", "11")
    assert re.match(r"bullion-client: limit_exceeded \(400\): .*10\.0000 g", done.err)
    assert "'bullion-client positions'" in done.err
    assert "Request id: " in done.err
    refused = shell.failed(3, "sell", "TIN", "1", "--json").error
    assert (refused["code"], refused["status"]) == ("unknown_symbol", 404)
    assert refused["detail"]["message"] in refused["message"]
    assert shop.orders(shell.key) == []


def test_an_order_that_the_venue_refuses(live_shell: Shell, shop: Shop) -> None:
    with shop.venue_that("refuse"):
        done = live_shell.failed(3, "buy", "GOLD", "5", "--yes", "--json")
    assert done.error["code"] == "order_rejected"
    assert done.error["detail"]["order"]["status"] == "rejected"
    order_id = done.error["detail"]["order_id"]
    assert live_shell.done("order", order_id).facts["status"] == "rejected"
    ended = live_shell.failed(3, "order", order_id, "--wait", "--json")
    assert ended.json["id"] == order_id
    assert ended.error["code"] == "order_rejected"


# --- Pending: 5 -----------------------------------------------------------------------------------------


def test_an_order_that_stays_pending_and_becomes_a_deal(live_shell: Shell, shop: Shop) -> None:
    shell = live_shell
    with shop.venue_that("hold"):
        done = shell.failed(5, "buy", "GOLD", "5", "--yes", "--wait-for", "0.1", "--json")
        order = done.json
        assert (order["status"], done.error["code"]) == ("pending", "still_pending")
        assert done.error["order"] == order
        assert f"bullion-client order {order['id']} --wait" in done.error["message"]
        looked = shell.run("order", order["id"])
        assert (looked.code, looked.facts["status"], looked.facts["price ₹"]) == (0, "pending", "-")
        assert "not a deal yet" in looked.err
        waited = shell.failed(5, "order", order["id"], "--wait-for", "0.1")
        assert "Do not place it again" in waited.err
        with shell.process("order", order["id"], "--wait", "--json") as process:
            time.sleep(0.7)
            shop.venue("fill")
            out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    assert '"status": "open"' in out


# --- Out of reach, or not now: 6 ------------------------------------------------------------------------


def test_a_service_that_is_not_there(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    for words in (("me",), ("buy", "GOLD", "5"), ("buy", "GOLD", "5", "--no-journal")):
        failed = shell.failed(6, *words, "--deadline", "0.1", "--json", BULLION_BASE_URL=url)
        assert failed.error["exit_code"] == 6
        assert failed.out == ""
    assert failed.error["code"] == "not_placed"
    assert failed.error["tries"] == 1
    told = shell.failed(6, *words, "--deadline", "0.1", BULLION_BASE_URL=url)
    assert "nothing is booked" in told.err


def test_what_the_service_cannot_do_now_and_the_words_to_go_on_with(shell: Shell, shop: Shop) -> None:
    """The desk has no terms for the account's group yet."""
    shop.desk.do("PUT", "/groups/new", {"terms": {"SILVER": TERMS}})
    login_id = shop.account(group="new")
    shell.key = shop.key(login_id)
    failed = shell.failed(6, "buy", "GOLD", "5", "--expected-price", "71240", "--deadline", "0.1", "--json")
    error = failed.error
    assert (error["code"], error["last_code"]) == ("not_placed", "pricing_unavailable")
    # Its owner was told, so nothing of it waits in the journal.
    assert shell.unsettled() == []
    shop.desk.do("PATCH", f"/accounts/{login_id}", {"group": "retail"})
    key = error["intent"]["idempotency_key"]
    assert (
        error["resume_command"] == f"bullion-client buy GOLD 5 --idempotency-key={key} --expected-price=71240"
    )
    shell.done(*error["resume_command"].split()[1:])
    assert len(shop.orders(shell.key)) == 1


def test_a_budget_that_is_used_up(shell: Shell, shop: Shop) -> None:
    shop.desk.do("PATCH", "/switches", {"budgets": {"reads_per_minute": 1}})
    try:
        shell.done("positions")
        done = shell.failed(6, "positions", "--deadline", "0.1", "--json")
    finally:
        shop.desk.do("PATCH", "/switches", {"budgets": WIDE_OPEN})
    assert done.error["code"] == "rate_limited"
    assert done.error["retry_after"] >= 1
    assert f"Try again after {done.error['retry_after']} s." in done.error["message"]


# --- Not known: 4 ---------------------------------------------------------------------------------------


def test_when_answers_get_lost_it_says_how_to_go_on_and_there_is_one_order(
    shell: Shell, shop: Shop, line: LossyProxy
) -> None:
    line.loses = True
    done = shell.failed(4, "buy", "GOLD", "5", "--deadline", "0.1")
    (intent,) = shell.unsettled()
    assert f"bullion-client resume {intent.idempotency_key}\n" in done.err
    assert "It is unknown whether the order is booked" in done.err
    assert len(shop.orders(shell.key)) == 1
    # Whoever gives the same command again means the same order.
    again = shell.failed(4, "buy", "GOLD", "5.0", "--json").error
    assert again["code"] == "unsettled_order"
    assert again["resume_command"] == f"bullion-client resume {intent.idempotency_key}"
    line.loses = False
    words = again["resume_command"].split()[1:]
    assert shell.done(*words).rows[1][3] == "5.0000"
    assert len(shop.orders(shell.key)) == 1
    assert shell.unsettled() == []
    assert shell.done("resume").out == "No unsettled orders.\n"


def test_another_one_can_be_meant(shell: Shell, shop: Shop, line: LossyProxy) -> None:
    line.loses = True
    shell.failed(4, "buy", "GOLD", "5", "--deadline", "0.1")
    line.loses = False
    shell.done("sell", "GOLD", "5")
    shell.done("buy", "GOLD", "6")
    shell.done("buy", "GOLD", "5", "--another")
    shell.done("buy", "GOLD", "5", "--idempotency-key", "named")
    assert len(shop.orders(shell.key)) == 5
    assert len(shell.unsettled()) == 1


def test_without_a_journal_the_whole_command_is_told(shell: Shell, shop: Shop, line: LossyProxy) -> None:
    line.loses = True
    done = shell.failed(
        4, "buy", "GOLD", "5", "--no-journal", "--client-order-id=-x y", "--deadline", "0.1", "--json"
    )
    error = done.error
    assert error["code"] == "outcome_unknown"
    key = error["intent"]["idempotency_key"]
    assert error["resume_command"] == (
        f"bullion-client buy GOLD 5 --idempotency-key={key} '--client-order-id=-x y' --no-journal"
    )
    line.loses = False
    order = shell.done(
        "buy", "GOLD", "5", f"--idempotency-key={key}", "--client-order-id=-x y", "--json"
    ).json
    assert [order["id"]] == [each["id"] for each in shop.orders(shell.key)]


# --- Unexpected: 1 --------------------------------------------------------------------------------------


def test_what_is_not_the_service(shell: Shell) -> None:
    with serving() as stub:
        stub.answer(httpx.codes.OK, b"<html>welcome</html>")
        done = shell.failed(1, "me", "--json", BULLION_BASE_URL=stub.url)
        assert done.error["code"] == "unexpected_answer"
        stub.answer(httpx.codes.FOUND, b"", Location="http://evil.example/\x1b[31m".replace("\x1b", "%1b"))
        assert "the key is not sent there" in shell.failed(1, "quote", BULLION_BASE_URL=stub.url).err


def test_a_state_that_a_later_service_has(shell: Shell, shop: Shop) -> None:
    """Waiting for a deal, a script must not take for one what nobody here knows."""
    order = shell.done("buy", "GOLD", "5", "--json").json | {"status": "parked\x1b[2J"}
    with serving() as stub:
        stub.answer(httpx.codes.OK, order)
        shown = shell.done("order", order["id"], BULLION_BASE_URL=stub.url)
        assert shown.facts["status"] == "parked\\x1b[2J"
        waited = shell.failed(1, "order", order["id"], "--wait", "--json", BULLION_BASE_URL=stub.url)
    assert waited.json["status"] == order["status"]
    assert waited.error["code"] == "unknown_status"


def test_an_answer_that_cannot_be_written_down(shell: Shell, shop: Shop) -> None:
    with shell.process("buy", "GOLD", "5", run_by='exec "$@" > /dev/full') as process:
        _, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "The output could not be written" in err
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    assert len(shop.orders(shell.key)) == 1
    assert shell.unsettled() == []


def test_a_scenario_is_played_by_a_header(shell: Shell, shop: Shop) -> None:
    """With a journal, whose account is read without it."""
    shell.key = shop.key(shop.account(scenarios=True))
    lost = "X-Bullion-Scenario: booking_outcome_unknown; order=booked; retry_after=1"
    assert shell.done("buy", "GOLD", "5", "--header", lost, "--json").json["deal_label"] == "T-1"
    halted = ("--header", "X-Bullion-Scenario:trading_halted", "--header", "X-Shop: 7")
    assert shell.failed(3, "buy", "GOLD", "5", *halted, "--json").error["code"] == "trading_halted"
    assert len(shop.orders(shell.key)) == 1
