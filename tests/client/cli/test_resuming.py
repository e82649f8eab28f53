"""Commands that die on their way, and the one that goes on: one order, whatever happens."""

import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from bullion_client import Journal
from tests.client.cli.lossy_proxy import LossyProxy, line_to
from tests.client.cli.shell import Shell
from tests.client.cli.shop import Shop
from tests.support.node import until


@pytest.fixture
def line(shell: Shell, shop: Shop) -> Iterator[LossyProxy]:
    """The shell's way to the service leads over it."""
    with line_to(shop.api_url) as line:
        shell.base_url = line.url
        yield line


def test_a_command_killed_between_its_order_and_the_answer(
    shell: Shell, shop: Shop, line: LossyProxy
) -> None:
    line.holds = True
    with shell.process("buy", "GOLD", "5", "--client-order-id", "mine") as process:
        assert line.kept_back.wait(30)
        process.send_signal(signal.SIGKILL)
        process.wait()
    line.holds = False
    (booked,) = shop.orders(shell.key)
    (intent,) = shell.unsettled()
    listed = shell.done("resume", "--list")
    assert listed.rows[1][1:4] == ["buy", "5", "GOLD"]
    assert listed.rows[1][5:] == [intent.idempotency_key, "mine"]
    (item,) = shell.done("resume", "--list", "--json").json["items"]
    assert (item["idempotency_key"], item["quantity"]) == (intent.idempotency_key, "5")
    (result,) = shell.done("resume", "--json").json["items"]
    assert result["intent"]["idempotency_key"] == intent.idempotency_key
    assert (result["order"], result["error"]) == (booked, None)
    assert shop.orders(shell.key) == [booked]
    assert shell.unsettled() == []


def test_a_command_killed_before_its_order_arrives(shell: Shell, shop: Shop, line: LossyProxy) -> None:
    """Noted, but never sent as far as the service knows: going on places it, once."""
    line.cuts = True
    shell.failed(4, "sell", "SILVER", "2", "--deadline", "0.1")
    assert shop.orders(shell.key) == []
    line.cuts = False
    first = shell.done("resume")
    assert first.rows[1][2:6] == ["sell", "2.0000", "kg", "SILVER"]
    shell.done("resume")
    assert len(shop.orders(shell.key)) == 1


def test_checking_places_nothing(shell: Shell, shop: Shop, line: LossyProxy) -> None:
    line.cuts = True
    shell.failed(4, "sell", "SILVER", "2", "--deadline", "0.1")
    line.cuts = False
    (intent,) = shell.unsettled()
    early = shell.failed(4, "resume", "--check")
    assert "unknown whether the order is booked" in early.err
    # As if the lost try were long over.
    Journal(shell.journals()[0]).note(replace(intent, unanswered_until=intent.made_at - timedelta(hours=1)))
    late = shell.done("resume", "--check")
    assert late.out.startswith(f"Not booked: sell 2 SILVER, key {intent.idempotency_key}.")
    (item,) = shell.done("resume", "--check", "--json").json["items"]
    assert (item["order"], item["error"]) == (None, None)
    assert shop.orders(shell.key) == []
    assert len(shell.unsettled()) == 1


def test_checking_finds_an_order_and_settles_it(live_shell: Shell, shop: Shop, line: LossyProxy) -> None:
    """In production, too, it asks nothing: nothing can be placed."""
    line.loses = True
    live_shell.failed(4, "buy", "GOLD", "5", "--yes", "--deadline", "0.1")
    line.loses = False
    (item,) = live_shell.done("resume", "--check", "--json").json["items"]
    assert [item["order"]["id"]] == [order["id"] for order in shop.orders(live_shell.key)]
    assert live_shell.unsettled() == []


def test_ctrl_c_while_an_order_is_under_way(shell: Shell, shop: Shop, line: LossyProxy) -> None:
    line.holds = True
    with shell.process("buy", "GOLD", "5", "--json") as process:
        assert line.kept_back.wait(30)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    (intent,) = shell.unsettled()
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert f'"resume_command": "bullion-client resume {intent.idempotency_key}"' in err
    line.holds = False
    shell.done("resume", intent.idempotency_key)
    assert len(shop.orders(shell.key)) == 1


def test_ctrl_c_before_an_order_is_sent_again(shell: Shell, shop: Shop, line: LossyProxy) -> None:
    """It was refused, so it is not in the journal, and is not placed unasked by the next command."""
    shell.key = shop.key(shop.account(scenarios=True))
    refused = ("--header", "X-Bullion-Scenario: stale_rate; retry_after=30")
    with shell.process("buy", "GOLD", "5", "--json", *refused) as process:
        until(lambda: line.answers >= 2, within_s=30)
        time.sleep(1)  # It has the answer, and waits for half a minute.
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert shell.unsettled() == []
    assert '"resume_command": "bullion-client buy GOLD 5 --idempotency-key=' in err


def test_ctrl_c_while_waiting_for_a_deal(live_shell: Shell, shop: Shop) -> None:
    with shop.venue_that("hold"), line_to(shop.api_url) as line:
        pending = live_shell.run("buy", "GOLD", "5", "--yes", "--json").json
        live_shell.base_url = line.url
        with live_shell.process("order", pending["id"], "--wait") as process:
            # After the first look it waits; the second is of the waiting itself.
            until(lambda: line.answers >= 2, within_s=30)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert f"Check it with: bullion-client order {pending['id']} --wait" in err
        assert "Traceback" not in err
        assert pending["id"] in out
        assert live_shell.unsettled() == []
        assert [order["status"] for order in shop.orders(live_shell.key)] == ["pending"]


def test_several_at_once_and_some_of_them_refused(shell: Shell, shop: Shop, line: LossyProxy) -> None:
    shell.key = shop.key(shop.account(allocation={"gold": "10", "silver": "10"}))
    line.cuts = True
    for quantity in ("8", "9"):
        shell.failed(4, "buy", "GOLD", quantity, "--deadline", "0.1")
    line.cuts = False
    first, second = shell.unsettled()
    done = shell.run("resume", "--deadline", "0.1", "--json")
    assert (done.code, done.err) == (4, "")
    one, other = done.json["items"]
    assert (one["order"]["quantity"], one["error"]) == ("8.0000", None)
    # A try of it may still be on its way, so a refusal is not the last word yet.
    assert (other["order"], other["error"]["code"]) == (None, "outcome_unknown")
    assert other["error"]["last_code"] == "limit_exceeded"
    assert other["error"]["resume_command"] == f"bullion-client resume {second.idempotency_key}"
    assert [intent.idempotency_key for intent in shell.unsettled()] == [second.idempotency_key]
    told = shell.failed(4, "resume", "--deadline", "0.1")
    assert told.out == ""
    assert "limit_exceeded" in told.err
    assert first.idempotency_key != second.idempotency_key


def test_an_order_can_be_struck_out(shell: Shell, shop: Shop, line: LossyProxy) -> None:
    line.cuts = True
    shell.failed(4, "buy", "GOLD", "5", "--deadline", "0.1")
    line.cuts = False
    (intent,) = shell.unsettled()
    assert "needs the KEYs" in shell.failed(2, "resume", "--abandon").err
    missing = shell.failed(2, "resume", "other", "--abandon", "--json").error
    assert "no unsettled order with the key other" in missing["message"]
    assert shell.done("resume", intent.idempotency_key, "--abandon").rows[1][3] == "GOLD"
    assert shell.unsettled() == []
    assert shop.orders(shell.key) == []


def test_what_waits_for_another_account_is_named(shell: Shell, shop: Shop, line: LossyProxy) -> None:
    line.cuts = True
    shell.failed(4, "buy", "GOLD", "5", "--deadline", "0.1")
    line.cuts = False
    (journal,) = shell.journals()
    shell.key = shop.key(shop.account())
    done = shell.run("resume")
    assert (done.code, done.out) == (0, "No unsettled orders.\n")
    assert f"Another account or address has unsettled orders, in {journal}." in done.err
    refused = shell.failed(2, "resume", "--journal", str(journal))
    assert "is the journal of" in refused.err
    assert shop.orders(shell.key) == []
    journal.with_name("broken.jsonl").write_bytes(b'{"journal": 1}\n')
    assert shell.run("resume").code == 0


def test_as_long_as_it_cannot_be_sent_again_its_end_stays_unknown(
    shell: Shell, shop: Shop, line: LossyProxy
) -> None:
    """What is out of reach or refused now may have been booked before: no code may say that it was not."""
    line.loses = True
    shell.failed(4, "buy", "GOLD", "5", "--deadline", "0.1")
    (journal,) = shell.journals()
    line.loses = False
    with socket.create_server(("127.0.0.1", 0)) as closed:
        away = f"http://127.0.0.1:{closed.getsockname()[1]}"
    words = ("resume", "--deadline", "0.1", "--journal", str(journal), "--json")
    failed = shell.failed(4, *words, BULLION_BASE_URL=away)
    assert failed.error["code"] == "no_answer"
    refused = shell.failed(4, *words, BULLION_API_KEY=shell.key[:-1] + "x")
    assert refused.error["status"] == 401
    assert "The outcome of the orders in the journal is still unknown." in refused.error["message"]
    assert len(shell.unsettled()) == 1
    shell.done(*words)
    assert len(shop.orders(shell.key)) == 1


def test_in_production_it_asks_and_a_script_has_to_say_yes(live_shell: Shell, shop: Shop) -> None:
    with line_to(shop.api_url) as line:
        live_shell.base_url = line.url
        line.cuts = True
        live_shell.failed(4, "buy", "GOLD", "5", "--yes", "--deadline", "0.1")
        line.cuts = False
        done = live_shell.failed(2, "resume")
        assert "Add --yes" in done.err
        assert shop.orders(live_shell.key) == []
        terminal = live_shell.terminal("resume")
        terminal.sees("Continue? [y/N]: ").types("n\n")
        assert terminal.ends() == 4
        terminal = live_shell.terminal("resume")
        terminal.sees("Buy 5 g of GOLD in production, begun ").sees("Continue? [y/N]: ").types("y\n")
        assert terminal.ends() == 0
        assert "open" in terminal.screen
    assert [order["status"] for order in shop.orders(live_shell.key)] == ["open"]


def test_a_full_disk_is_told_before_anything_is_sent(shell: Shell, shop: Shop) -> None:
    shell.done("buy", "GOLD", "1")
    with shell.process("buy", "GOLD", "5", run_by='ulimit -f 0; exec "$@"') as process:
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, "")
    (journal,) = shell.journals()
    assert f"The journal {journal} cannot be used, so nothing was sent: " in err
    assert [order["quantity"] for order in shop.orders(shell.key)] == ["1.0000"]
