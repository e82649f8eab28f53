"""The desk's guide has every command of the desk with its options, and each of its examples works."""

import json
import shlex
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from string import Template
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bullion.__main__ import main
from bullion.orders.instant import instant_text
from tests.docs.commands import command_of, leaves, option_names
from tests.docs.markdown import ROOT, prose, quoted, table_rows
from tests.support.feed_status import put_feed_status
from tests.support.kept_logs import kept_logs
from tests.support.line_state import line_report, put_line_state
from tests.support.node import SECRET

DESK = ROOT / "docs/desk.md"
IN_EVERY_LIST = {"--limit", "--offset"}
"""Told once, above the table."""

GOLD = {
    "metal": "gold",
    "quoted_weight": "10",
    "minimum": "1",
    "maximum": "10000",
    "step": "1",
    "pricing": {"kind": "direct", "instrument": "GOLD"},
}
RETAIL = {"default_terms": {"buy_premium": "150", "sell_premium": "-150"}}

SIMULATED_VENUE = tuple(f"`bullion desk hedge {verb}" for verb in ("set", "show", "cover-send"))
"""Commands that the desk cannot do as the venue."""


def rows() -> list[list[str]]:
    """Command, what it does, example."""
    return [row for row in table_rows(DESK) if row[0].startswith("`bullion desk ")]


def desk_commands() -> dict[str, Any]:
    return {words: command for words, command in leaves(main) if words.startswith("bullion desk ")}


def test_every_command_is_in_the_table_and_no_other() -> None:
    shown = [row[0].strip("`") for row in rows()]
    assert sorted(shown) == sorted(desk_commands())


def test_every_option_is_told_and_no_other() -> None:
    commands = desk_commands()
    for name, words, _ in rows():
        told = {text for text in _in_backticks(words) if text.startswith("--")}
        own = option_names(commands[name.strip("`")]) - IN_EVERY_LIST
        # `--broker` and its like stand before the command; what is said of them is no mistake.
        assert own <= told <= own | option_names(main.commands["desk"]), name
    assert set(quoted(DESK)) >= IN_EVERY_LIST


def test_the_options_of_the_desk_are_in_a_table() -> None:
    section = prose(DESK).partition("## The desk from the command line")[2].partition("\n### ")[0]
    shown = {line.split("`")[1].split()[0] for line in section.splitlines() if line.startswith("| `--")}
    assert shown == option_names(main.commands["desk"])


def test_every_example_is_of_its_own_command() -> None:
    commands = desk_commands()
    for name, _, example in rows():
        assert command_of(example.strip("`")) is commands[name.strip("`")]


def _in_backticks(text: str) -> list[str]:
    return text.split("`")[1::2]


class Shell:
    """A terminal in one process: to start Python for each example would take half a second each."""

    def run(self, line: str) -> Result:
        return CliRunner().invoke(main, shlex.split(line)[1:], prog_name="bullion")

    def newest(self, what: str, field: str) -> str:
        done = self.run(f"bullion desk --json {what}")
        assert done.exit_code == 0, done.output
        return str(json.loads(done.stdout)["items"][0][field])


def put_order(store: Path) -> str:
    """An order of the only account, as if a client had placed it: no command does that. Its id."""
    order_id = "01a1de14-d0ac-74ff-b60f-000000000001"
    values = (
        "api",
        "key",
        "GOLD",
        "buy",
        10_000,
        None,
        None,
        "gold",
        100,
        10,
        "filled",
        None,
        "0" * 24,
        1,
        "{}",
        *[None] * 4,
    )
    with closing(sqlite3.connect(store)) as open_store, open_store:
        (book,) = open_store.execute("SELECT id FROM books WHERE environment = 'test'").fetchone()
        places = ", ".join("?" * (len(values) + 3))
        columns = [row[1] for row in open_store.execute("PRAGMA table_info(orders)")][: len(values) + 3]
        into = f"orders ({', '.join(columns)})"
        open_store.execute(f"INSERT INTO {into} VALUES ({places})", (book, 1, order_id, *values))
        open_store.execute("UPDATE books SET order_count = 1 WHERE id = ?", (book,))
    return order_id


ON_ITS_WAY = {
    "close": ["confirm"],
    "complete": ["confirm", "close"],
    "resolve": ["delete --reason example --yes"],
}
"""What is done to a pending order before these words can be said of it."""


def open_the_market(shell: Shell) -> None:
    """The examples above closed it for everybody."""
    for line in (
        "symbols set GOLD frozen=false rate_age_s_max=null freeze_after_s=null",
        "switches set halted=false --yes",
        "rates put GOLD --bid 150463 --ask 150480",
    ):
        assert shell.run(f"bullion desk {line}").exit_code == 0, line


def deal(shell: Shell, store: Path, verb: str, number: int) -> str:
    """A production order that the command can do its work on. Its id."""
    placed = shell.run(
        "bullion desk --json orders place aurum --symbol GOLD --side buy --quantity 1 --source web "
        f"--key example-{number}"
    )
    assert placed.exit_code == 0, placed.output
    order_id = str(json.loads(placed.stdout)["id"])
    for before in ON_ITS_WAY.get(verb, []):
        word, *options = before.split()
        done = shell.run(f"bullion desk orders {word} {order_id} {' '.join(options)}")
        assert done.exit_code == 0, done.output
    if verb == "cover":  # As if a venue had filled half of it.
        with closing(sqlite3.connect(store)) as open_store, open_store:
            place = "FROM hedge_requests WHERE order_id = ?"
            open_store.execute(
                "INSERT INTO hedge_rests (book_id, ordinal, child, quantity_e4, fine_mg, stopped) "
                f"SELECT book_id, ordinal, 1, 1, 1, 1 {place}",
                (order_id,),
            )
            open_store.execute(
                "INSERT INTO hedge_parts (book_id, ordinal, child, order_id, execution_id, quantity_e4, "
                f"fine_mg, at_us) SELECT book_id, ordinal, 0, order_id, 'E', 1, 1, 1 {place}",
                (order_id,),
            )
    if verb == "resolve":  # As if a venue had filled it after all.
        with closing(sqlite3.connect(store)) as open_store, open_store:
            open_store.execute("UPDATE hedge_requests SET state = 'broken' WHERE order_id = ?", (order_id,))
    return order_id


NEWEST = {
    "KEY_ID": ("keys list aurum", "key_id"),
    "REQUEST_ID": ("traces list", "request_id"),
    "TOKEN_ID": ("tokens list", "token_id"),
    "WEBHOOK_ID": ("webhooks list aurum", "webhook_id"),
}
"""The list whose first row an example is about, and the field that names the row."""


def make_cover(shell: Shell, number: int) -> str:
    """A cover that is not dealt yet, in the contract of the example before. Its id."""
    made = shell.run(f"bullion desk hedge cover --contract GOLDM --side buy --quantity 2 --key {number}")
    assert made.exit_code == 0, made.output
    return shell.newest("hedge covers", "id")


def send_in_vain(store: Path, cover_id: str) -> None:
    """As if it had been sent to a venue that does not answer."""
    sent = "state = 'sent', sent_at_us = 1, sent_to = 'fix', reference_e6 = 1, dollar_e6 = 0"
    with closing(sqlite3.connect(store)) as open_store, open_store:
        open_store.execute(f"UPDATE covers SET {sent} WHERE id = ?", (cover_id,))


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BULLION_SECRET", SECRET)
    with kept_logs():
        yield Shell()


def put_what_nodes_say(name: str, store: Path) -> None:
    """For commands about what a node runs."""
    if "feeds " in name:
        put_feed_status(store)
    elif "hedge line-" in name:
        put_line_state(store, "spot", "main", line_report())


@pytest.mark.slow
def test_every_example_of_the_table_works(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The desk is the venue itself, so that it may confirm and refuse; but where it tells a simulated one."""
    (tmp_path / "gold.json").write_text(json.dumps(GOLD))
    (tmp_path / "retail.json").write_text(json.dumps(RETAIL))
    (tmp_path / "trades.csv").write_text("execution_id,symbol,side,quantity,price\n")
    assert shell.run("bullion migrate").exit_code == 0
    for number, (name, _, example) in enumerate(rows()):
        ids = {}
        dealing = name.startswith(("`bullion desk orders", "`bullion desk hedge"))
        by_hand = dealing and not name.startswith(SIMULATED_VENUE)
        monkeypatch.setenv("BULLION_HEDGE", "desk" if by_hand else "simulated")
        monkeypatch.setenv("BULLION_FEED", "desk" if dealing else "simulated")
        if "orders place" in name:
            open_the_market(shell)
        if "rates unpin" in name:
            pin_until = instant_text(time.time_ns() // 1000 + 60_000_000)
            pinned = f"bullion desk rates put MUMBAI-GOLD --bid 150463 --ask 150480 --pin-until {pin_until}"
            assert shell.run(pinned).exit_code == 0
        put_what_nodes_say(name, tmp_path / "var/bullion.db")
        if "$ORDER_ID" in example:
            store, verb = tmp_path / "var/bullion.db", name.strip("`").split()[-1]
            ids["ORDER_ID"] = put_order(store) if verb == "show" else deal(shell, store, verb, number)
        if "$COVER_ID" in example:
            ids["COVER_ID"] = make_cover(shell, number)
            if "cover-settle" in name:
                send_in_vain(tmp_path / "var/bullion.db", ids["COVER_ID"])
        for kind, (listed, field) in NEWEST.items():
            if f"${kind}" in example:
                ids[kind] = shell.newest(listed, field)
        if "$NUMBER" in example:
            assert shell.run("bullion desk switches set price_tolerance_percent=0.75").exit_code == 0
            ids["NUMBER"] = shell.newest("audit list", "ordinal")
        done = shell.run(Template(example.strip("`")).substitute(ids))
        assert done.exit_code == 0, f"{example}: {done.output}"


def test_every_way_to_write_a_field_works(shell: Shell, tmp_path: Path) -> None:
    """The table of assignments, each tried on what has such a field."""
    (tmp_path / "gold.json").write_text(json.dumps(GOLD))
    (tmp_path / "retail.json").write_text(json.dumps(RETAIL))
    for line in (
        "bullion migrate",
        "bullion desk symbols put GOLD --file gold.json",
        "bullion desk groups put retail --file retail.json",
        "bullion desk accounts create aurum --group retail",
    ):
        assert shell.run(line).exit_code == 0
    section = prose(DESK).partition("| You write | It means |")[2].partition("\n\n")[0]
    written = [text for row in section.splitlines() for text in _in_backticks(row.split(" | ")[0])]
    assert len(written) > 5
    things = ("symbols set GOLD", "accounts set aurum", "switches set --yes", "hedge set")
    for text in written:
        tried = [shell.run(f"bullion desk {thing} {shlex.quote(text)}") for thing in things]
        assert [done.exit_code for done in tried].count(0) == 1, text


def test_wiping_out_a_broker_shows_only_in_what_was_noted(shell: Shell, tmp_path: Path) -> None:
    """As the guide warns: no chain is broken, but the broker is missing."""
    assert shell.run("bullion migrate").exit_code == 0
    assert shell.run("bullion desk brokers put other --name Other").exit_code == 0
    noted = shell.run("bullion audit verify").stdout
    with sqlite3.connect(tmp_path / "var/bullion.db") as store:
        for table, column in (
            ("switches", "broker"),
            ("brokers", "tag"),
            ("audit", "broker"),
            ("audit_heads", "broker"),
        ):
            store.execute(f"DELETE FROM {table} WHERE {column} = 'other'")
    store.close()
    found = shell.run("bullion audit verify")
    assert found.exit_code == 0
    assert [line for line in noted.splitlines() if line not in found.stdout.splitlines()] == [
        line for line in noted.splitlines() if line.startswith("other: intact")
    ]
