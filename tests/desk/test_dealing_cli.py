"""`bullion desk orders …` and `bullion desk hedge …` on both stores, as tables and as JSON."""

import asyncio
import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bullion.__main__ import main
from bullion.desk_cli import commands
from bullion.settings import read_settings
from bullion.wiring.store import open_store, save_hedge
from bullion.wiring.trading import Trading
from tests.support.kept_logs import kept_logs
from tests.support.node import SECRET
from tests.support.orders import GOLD
from tests.support.stacks import STACKS, stack

NEVER = "01a1de14-d0ac-74ff-b60f-dff545fade43"
PLACE = "orders place aurum --symbol GOLD --side buy --quantity 5 --source phone --key {}"


class Shell:
    """A terminal in one process: to start Python for each command would take half a second each."""

    def run(self, line: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(main, shlex.split(f"desk {line}"), prog_name="bullion", input=stdin)

    def desk(self, line: str, stdin: str | None = None) -> Any:
        done = self.run(f"--json {line}", stdin)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    def told(self, line: str) -> str:
        """What a person reads."""
        done = self.run(line)
        assert done.exit_code == 0, done.output
        return done.output

    def refused(self, line: str, code: int = 1) -> str:
        done = self.run(line)
        assert done.exit_code == code, (done.exit_code, done.output)
        assert "Traceback" not in done.output
        return done.stderr

    def place(self, key: str) -> Any:
        return self.desk(PLACE.format(key))


@pytest.fixture(params=STACKS)
def shell(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BULLION_SECRET", SECRET)
    for name, value in stack(request.param, request).items():
        monkeypatch.setenv(name, value)
    shell = Shell()
    with kept_logs():
        assert CliRunner().invoke(main, ["migrate"]).exit_code == 0
        shell.desk("symbols put GOLD --file -", json.dumps(GOLD))
        terms = {"default_terms": {"buy_premium": "0", "sell_premium": "0"}}
        shell.desk("groups put retail --file -", json.dumps(terms))
        shell.desk("accounts create aurum --group retail --gold 1000")
        yield shell


def test_totals_of_orders_are_a_table_and_the_whole_answer_as_json(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shell.told("orders totals") == "None.\n"
    shell.place("call-1")
    shell.place("call-2")
    head, row = shell.told("orders totals").splitlines()
    assert head.split("  ")[0] == "environment"
    assert row.split()[:6] == ["production", "gold", "buy", "2", "10.0000", "g"]
    found = shell.desk("orders totals --environment production")
    assert (found["orders"], found["summed"], found["items"][0]["orders"]) == (2, 2, 2)
    monkeypatch.setattr("bullion.desk.actions.orders.SORTED_MAX", 1)
    assert "The newest 1 of 2 orders are summed." in shell.told("orders totals")


def test_a_hedge_book_that_is_not_open_says_so(shell: Shell) -> None:
    shell.desk("hedge book-set gold limit=5000")
    rows = [line.split()[:2] for line in shell.told("hedge book").splitlines()]
    assert ["gold", "yes"] in rows
    assert ["silver", "no"] in rows


def test_a_day_of_dealing(shell: Shell) -> None:
    order = shell.place("call-1")
    assert (order["status"], order["source"], order["quantity"]) == ("open", "phone", "5.0000")
    again = shell.run(PLACE.format("call-1"))
    assert "this key was used before" in again.stderr
    assert str(order["deal_no"]) in again.stdout
    assert shell.desk("orders list --status open")["total"] == 1
    listed = shell.told("orders list")
    assert order["id"] in listed
    assert "deal" in listed
    assert "closing" in shell.told(f"orders close {order['id']}")
    closed = shell.desk(f"orders complete {order['id']} --price 71300 --yes")
    assert (closed["status"], closed["realized_pnl"]) == ("closed", "30.00")
    assert "Only an order that is open" in shell.refused(f"orders close {order['id']}")
    shown = shell.told(f"orders show {order['id']}")
    assert "command line (" in shown
    other = shell.place("call-2")
    told = shell.told(f"orders delete {other['id']} --reason 'entered twice' --yes")
    assert "deleted" in told
    assert shell.desk(f"orders show {other['id']}")["events"][-1]["words"] == "entered twice"
    assert [entry["action"] for entry in shell.desk("audit list --limit 6")["items"]] == [
        "delete_order",
        "place_order",
        "complete_order",
        "close_order",
        "place_order",
        "place_order",
    ]
    assert CliRunner().invoke(main, ["audit", "verify"]).exit_code == 0


def test_an_execution_is_written_with_its_quantity_and_price(shell: Shell) -> None:
    for text in ("X17", "X17=2", "X17@71250", "2@71250"):
        done = shell.run(f"hedge cover-settle 1 executed --fill {text} --reason told")
        assert done.exit_code == 2
        assert "is not of the form EXECUTION=QUANTITY@PRICE" in done.stderr
    # An id may have such a sign too.
    assert "There is no cover 1." in shell.refused(
        "hedge cover-settle 1 executed --fill 'A=7@B=2@71250' --reason told"
    )


def test_the_hedge(shell: Shell) -> None:
    assert shell.desk("hedge show") == {
        "venue": "simulated",
        "mode": "fill",
        "delay_ms": 0,
        "fill_percent": 100,
        "unasked": False,
        "instruments": {},
    }
    first = shell.place("a")
    (execution,) = shell.desk("hedge executions")["items"]
    assert execution["order_id"] == first["id"]
    assert shell.desk(f"hedge executions --order {NEVER}")["items"] == []
    changed = shell.desk("hedge set mode=hold instruments.OTHER=suspended delay_ms=5")
    assert changed["instruments"] == {"OTHER": "suspended"}
    done = shell.run(PLACE.format("b"))
    assert (done.exit_code, "not confirmed yet" in done.stderr) == (0, True)
    (waiting,) = shell.desk("hedge queue")["items"]
    queue = shell.told("hedge queue")
    assert waiting["order_id"] in queue
    assert "aurum" in queue
    assert "None." in shell.told("hedge breaks")
    assert "no break" in shell.refused(f"hedge resolve {waiting['order_id']} --note done")
    shell.desk("hedge set mode=refuse delay_ms=0")
    assert "refused" in shell.refused(PLACE.format("c"))
    for wrong in ("hedge set mode=odd", "hedge set modes=fill", "hedge set delay_ms.x=1", "hedge set mode"):
        assert shell.refused(wrong, code=2)


def serve(hedge: str) -> None:
    """As a node does that starts with this setting."""

    async def start() -> None:
        settings = read_settings(os.environ | {"BULLION_HEDGE": hedge})
        async with open_store(settings, migrate=False) as store:
            await save_hedge(store, settings.hedge)

    asyncio.run(start())


async def one_turn_of_a_node() -> None:
    """Commands leave other orders alone; nodes settle them."""
    settings = read_settings(os.environ)
    async with open_store(settings, migrate=False) as store:
        trading = Trading(settings, store)
        await trading.refresh()
        await trading._hedging.settle()
        await asyncio.sleep(0.05)


def test_a_command_leaves_the_orders_of_others_to_the_nodes(shell: Shell) -> None:
    shell.desk("hedge set mode=hold")
    order = shell.place("a")
    shell.desk("hedge set mode=fill")
    for number in range(8):
        assert shell.place(f"next-{number}")["status"] == "open"
    assert shell.desk(f"orders show {order['id']}")["status"] == "pending"


def test_who_covers_orders_is_what_the_service_says(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal in which nobody set it must not send to a venue what waits for a person."""

    serve("desk")
    monkeypatch.delenv("BULLION_HEDGE", raising=False)
    order = shell.place("a")
    assert order["status"] == "pending"
    assert shell.desk("hedge show")["venue"] == "desk"
    assert shell.desk("hedge executions")["total"] == 0
    assert shell.desk(f"orders confirm {order['id']} --reason 'ticket 7'")["status"] == "open"


def test_what_waits_for_the_desk_stays_the_desks_when_a_venue_takes_over(shell: Shell) -> None:
    serve("desk")
    orders = [shell.place(key)["id"] for key in ("a", "b", "c")]
    serve("simulated")
    asyncio.run(one_turn_of_a_node())
    assert shell.desk("hedge queue")["total"] == 3
    confirmed, refused, deleted = (
        shell.desk(f"orders {what}")
        for what in (
            f"confirm {orders[0]}",
            f"refuse {orders[1]}",
            f"delete {orders[2]} --reason wrong --yes",
        )
    )
    assert [each["status"] for each in (confirmed, refused, deleted)] == ["open", "rejected", "deleted"]
    assert deleted["hedge"]["state"] == "withdrawn"
    assert shell.desk("hedge queue")["total"] == 0


def test_an_order_is_deleted_in_the_state_that_the_question_named(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A colleague confirms it while somebody reads the question: it is a deal then, with a cover."""
    serve("desk")
    order = shell.place("a")

    def answer_late(question: str, *, yes: bool) -> None:
        assert "pending" in question
        assert not yes
        shell.desk(f"orders confirm {order['id']}")

    monkeypatch.setattr(commands, "confirm", answer_late)
    told = shell.refused(f"orders delete {order['id']} --reason wrong")
    assert "The order was pending when you were asked, and is open now. Nothing was changed." in told
    assert shell.desk(f"orders show {order['id']}")["status"] == "open"


def test_a_refused_order_leaves_its_decision(shell: Shell) -> None:
    shell.refused(PLACE.format("a").replace("--quantity 5", "--quantity 5000"))
    (trace,) = shell.desk("traces list --outcome limit_exceeded")["items"]
    assert trace["login_id"] == "aurum"


def test_a_break_is_seen_and_resolved(shell: Shell) -> None:
    shell.desk("hedge set mode=hold")
    order = shell.place("a")
    assert order["status"] == "pending"
    shell.desk(f"orders delete {order['id']} --reason 'a mistake' --yes")
    shell.desk("hedge set mode=fill")
    for _ in range(200):
        asyncio.run(one_turn_of_a_node())
        if shell.desk("hedge breaks")["total"]:
            break
    assert order["id"] in shell.told("hedge breaks")
    resolved = shell.desk(f"hedge resolve {order['id']} --note 'sold back'")
    assert resolved["resolution"] == "sold back"
    assert shell.desk("hedge breaks")["total"] == 0


def test_the_desk_as_its_own_venue(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BULLION_HEDGE", "desk")
    one, two = shell.place("a"), shell.place("b")
    assert shell.desk("hedge show")["venue"] == "desk"
    assert shell.desk("hedge queue")["total"] == 2
    cover = "--cover-price 71200 --cover-reference LM-1"
    confirmed = shell.desk(f"orders confirm {one['id']} {cover}")
    assert (confirmed["hedge"]["cover_price"], confirmed["hedge"]["cover_reference"]) == ("71200.00", "LM-1")
    assert confirmed["hedge"]["execution_id"].startswith("DESK-")
    assert "rejected" in shell.told(f"orders refuse {two['id']} --reason 'no cover'")
    assert shell.desk("hedge executions")["total"] == 2
    assert "BULLION_HEDGE=desk" in shell.refused("hedge set mode=fill")


@pytest.mark.parametrize(
    "line",
    ["orders complete {} --price 71000", "orders delete {} --reason 'a mistake'"],
    ids=["complete", "delete"],
)
def test_what_hurts_is_asked_about(shell: Shell, line: str) -> None:
    order = shell.place("a")
    if "complete" in line:
        shell.desk(f"orders close {order['id']}")
    words = shell.refused(line.format(order["id"]), code=2)
    assert "aurum: buy 5.0000 g GOLD at 71240.00" in words
    assert "--yes" in words
    assert shell.desk(f"orders show {order['id']}")["status"] in ("open", "closing")


def test_a_closing_price_with_a_digit_too_many_needs_a_second_word(shell: Shell) -> None:
    order = shell.place("a")
    shell.desk(f"orders close {order['id']}")
    words = shell.refused(f"orders complete {order['id']} --price 712400 --yes")
    assert "You lose 641170.00 rupees per 10 g." in words
    assert "--confirm" in words
    assert shell.desk(f"orders show {order['id']}")["status"] == "closing"


def test_refusals_are_sentences(shell: Shell) -> None:
    order = shell.place("a")
    assert "There is no such order" in shell.refused(f"orders close {NEVER}")
    assert "BULLION_HEDGE=desk" in shell.refused(f"orders confirm {order['id']}")
    too_much = PLACE.format("b").replace("--quantity 5", "--quantity 5000")
    assert "past the weight allocation" in shell.refused(too_much)
    assert "source" in shell.refused(PLACE.format("c").replace("phone", "api"))
    assert "no such account" in shell.refused(PLACE.format("d").replace("aurum", "nobody"))
    assert "quantity" in shell.refused(PLACE.format("e").replace("--quantity 5", "--quantity 1e2"))
    assert shell.refused("orders place aurum --symbol GOLD", code=2)
    assert shell.refused(f"orders complete {order['id']} --yes", code=2)
