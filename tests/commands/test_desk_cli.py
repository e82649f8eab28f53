"""`bullion desk …` and `bullion doctor`: every action as a command, on both stores, in words and as JSON."""

import contextlib
import json
import os
import pty
import shlex
import shutil
import sqlite3
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import PROGRAM, bullion, environment
from tests.support.node import SECRET, running, until
from tests.support.orders import GOLD, Trader
from tests.support.servers import Postgres, Redis

SYMBOL = {
    "metal": "gold",
    "quoted_weight": "10",
    "minimum": "1",
    "maximum": "1000",
    "step": "1",
    "pricing": {"kind": "direct", "instrument": "GOLD"},
}
GROUP = {"default_terms": {"buy_premium": "0", "sell_premium": "0"}}


@dataclass
class Shell:
    """A terminal in a folder with a deployment's settings."""

    folder: Path
    settings: dict[str, str]

    def run(self, *words: str, stdin: str | None = None, **more: str) -> subprocess.CompletedProcess[str]:
        return bullion(self.folder, *words, stdin=stdin or "", **self.settings | more)

    def desk(self, *words: str, stdin: str | None = None, **more: str) -> Any:
        """As JSON; fails the test when the command does."""
        done = self.run("desk", "--json", *words, stdin=stdin, **more)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def refused(self, *words: str, code: int, stdin: str | None = None, **more: str) -> str:
        done = self.run(*words, stdin=stdin, **more)
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done.stderr


def set_up(shell: Shell) -> Shell:
    assert shell.run("migrate").returncode == 0
    shell.desk("groups", "put", "retail", "--file", "-", stdin=json.dumps(GROUP))
    named = ("--group", "retail", "--firm", "Aurum [b]", "--gold", "1000")
    assert shell.desk("accounts", "create", "aurum", *named, "--scenarios")["scenarios"] is True
    return shell


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once, copied for each test."""
    return set_up(Shell(tmp_path_factory.mktemp("original"), {"BULLION_SECRET": SECRET})).folder


@pytest.fixture
def prepared(original: Path, tmp_path: Path) -> Shell:
    folder = tmp_path / "copy"
    shutil.copytree(original, folder)
    return Shell(folder, {"BULLION_SECRET": SECRET})


@pytest.fixture
def on_postgres(postgres: Postgres, schema_template: str, tmp_path: Path) -> Shell:
    address = postgres.new_database(schema_template)
    return set_up(Shell(tmp_path, {"BULLION_SECRET": SECRET, "BULLION_DATABASE_URL": address}))


@pytest.mark.parametrize("store", ["prepared", "on_postgres"])
def test_every_action_as_a_command(store: str, request: pytest.FixtureRequest) -> None:
    """One day at the desk; each step is seen in the next listing."""
    shell: Shell = request.getfixturevalue(store)
    (shell.folder / "gold.json").write_text(json.dumps(SYMBOL))
    assert shell.desk("symbols", "put", "GOLD", "--file", "gold.json")["minimum"] == "1.0000"
    changed = shell.desk(
        "symbols", "set", "GOLD", "sides=buy", "stock=12.5", "rate_age_s_max=null", "frozen=true"
    )
    assert (changed["sides"], changed["stock"], changed["rate_age_s_max"]) == (["buy"], "12.5000", None)
    assert shell.desk("symbols", "list")["items"] == [changed]
    assert [group["code"] for group in shell.desk("groups", "list")["items"]] == ["retail"]
    account = shell.desk(
        "accounts", "set", "aurum", "allocation.silver=50", "api_access=false", "scenarios=false"
    )
    assert account["allocation"] == {"gold": "1000.0000", "silver": "50.0000"}
    assert account["scenarios"] is False
    assert shell.desk("accounts", "show", "aurum") == account
    assert shell.desk("accounts", "list") == {"items": [account], "total": 1}
    issued = shell.desk(
        "keys", "issue", "aurum", "--environment", "test", "--name", "a", "--scope", "account:read"
    )
    assert issued["key"].startswith("key_test.main.")
    rotated = shell.desk("keys", "rotate", issued["key_id"], "--overlap", "60")
    assert rotated["scopes"] == ["account:read"]
    widened = (
        "--scope",
        "orders:read",
        "--name",
        "b",
        "--expires",
        "2040-01-01T00:00:00Z",
        "--address",
        "10.0.0.0/8",
    )
    again = shell.desk("keys", "rotate", rotated["key_id"], *widened)
    assert (again["scopes"], again["name"], again["allowed_addresses"]) == (
        ["orders:read"],
        "b",
        ["10.0.0.0/8"],
    )
    assert again["expires_at"].startswith("2040-01-01")
    assert shell.desk("keys", "rotate", again["key_id"], "--expires", "never")["expires_at"] is None
    assert shell.desk("keys", "revoke", rotated["key_id"], "--yes")["revoked_at"]
    assert {issued["key_id"], rotated["key_id"], again["key_id"]} < {
        key["key_id"] for key in shell.desk("keys", "list", "aurum")["items"]
    }
    switches = shell.desk("switches", "set", "halted=true", "budgets.reads_per_minute=7", "--yes")
    assert switches["halted"] is True
    assert switches["budgets"]["reads_per_minute"] == 7
    assert shell.desk("switches", "show") == switches
    hours = '{"zone": "Asia/Kolkata", "week": {"mon": [["10:00", "23:30"]]}, "holidays": []}'
    assert shell.desk("switches", "set", f"trading_hours={hours}")["trading_hours"] == json.loads(hours)
    assert shell.desk("switches", "set", "trading_hours=null")["trading_hours"] is None
    rate = shell.desk("rates", "put", "MUMBAI-GOLD", "--bid", "71234.5", "--ask", "71240")
    assert (rate["bid"], rate["taken"]) == ("71234.500000", True)
    # A lost digit is asked about, and a quote of yesterday not taken.
    lost_digit = ("desk", "rates", "put", "MUMBAI-GOLD", "--bid", "7123.4", "--ask", "7124")
    assert "The ask of MUMBAI-GOLD moves by more than your limit: 71240.00" in shell.refused(
        *lost_digit, code=1
    )
    late = json.loads(shell.run("desk", "--json", *lost_digit[1:], "--at", "2020-01-01").stdout)
    assert (late["bid"], late["taken"]) == ("71234.500000", False)
    assert [each["instrument"] for each in shell.desk("rates", "list")["items"]] == ["MUMBAI-GOLD"]
    duty = shell.desk("duties", "put", "gold", "2999-01-01=1.5", "2020-01-01=6250")
    assert duty["in_force"] == {"from": "2020-01-01", "rupees": "6250.00"}
    assert shell.desk("duties", "list") == {"items": [duty], "total": 1}
    assert shell.desk("accounts", "reset-test-book", "aurum", "--yes")["orders"] == 0
    assert shell.desk("orders", "list", "--login", "aurum", "--since", "2020-01-01") == {
        "items": [],
        "total": 0,
    }
    assert shell.desk("traces", "list", "--outcome", "filled", "--limit", "5") == {"items": []}
    token = shell.desk("tokens", "create", "Asha", "--role", "viewer")
    assert shell.desk("--token", token["token"], "accounts", "list")["total"] == 1
    assert shell.desk("tokens", "list")["total"] == 1
    assert shell.desk("tokens", "delete", token["token_id"], "--yes")["deleted_at"]
    assert shell.desk("brokers", "put", "other", "--name", "Other", "--host", "o.example")["hosts"] == [
        "o.example"
    ]
    assert [broker["tag"] for broker in shell.desk("brokers", "list")["items"]] == ["main", "other"]
    assert shell.desk("--broker", "other", "accounts", "list")["total"] == 0
    trail = shell.desk("audit", "list", "--limit", "200")
    assert trail["total"] == len(trail["items"])
    assert all(entry["actor"].startswith("command line (") for entry in trail["items"])
    assert shell.run("audit", "verify").returncode == 0


def test_tables_are_for_people_and_never_interpret_what_a_client_wrote(prepared: Shell) -> None:
    shown = prepared.run("desk", "accounts", "list").stdout
    assert "login id" in shown
    assert "Aurum [b]" in shown
    assert "1000.0000" in shown
    assert "\x1b" not in shown
    assert "None." in prepared.run("desk", "symbols", "list").stdout


def test_orders_and_decisions_are_shown_to_people(tmp_path: Path) -> None:
    """Placed through the API, read with the commands beside the running service."""
    with running(tmp_path, BULLION_FEED="desk") as node, node.desk() as desk:
        desk.add_group().account("aurum", allocation={"gold": "10"})
        desk.do("PUT", "/symbols/GOLD", GOLD)
        issued = desk.key("aurum")
        with node.api(issued["key"]) as http:
            trader = Trader(http, "aurum", issued)
            order = trader.buy(2, client_order_id="PO-1")
            refused = trader.place(quantity=9).headers["x-request-id"]
        until(lambda: desk.get(f"/traces/{refused}").status_code == 200, within_s=5)
        shell = Shell(tmp_path, node.settings)
        listed = shell.run("desk", "orders", "list", "--client-order-id", "PO-1").stdout
        assert all(each in listed for each in ("T-1", "aurum", "2.0000", order["price"], order["id"]))
        assert "None." in shell.run("desk", "orders", "list", "--environment", "production").stdout
        shown = shell.run("desk", "orders", "show", order["id"]).stdout
        assert "  tolerance percent" in shown
        assert "net_before 0.0000" in shown
        assert shell.desk("orders", "show", order["id"]) == desk.do("GET", f"/orders/{order['id']}")
        decisions = shell.run("desk", "traces", "list", "--login", "aurum").stdout
        assert decisions.index("limit_exceeded") < decisions.index("filled")
        assert "8.0000 g of 10.0000 g are free" in shell.run("desk", "traces", "show", refused).stdout
        reset = shell.run("desk", "accounts", "reset-test-book", "aurum", "--yes").stdout
        assert "archived orders" in reset
        assert "None." in shell.run("desk", "orders", "list").stdout


def test_duties_are_shown_row_by_row(prepared: Shell) -> None:
    prepared.desk("duties", "put", "gold", "2020-01-01=6250", "2999-01-01=0")
    table = [line.split() for line in prepared.run("desk", "duties", "list").stdout.splitlines()]
    assert table == [
        ["name", "from", "rupees", "in", "force"],
        ["gold", "2020-01-01", "6250.00", "yes"],
        ["gold", "2999-01-01", "0.00", "no"],
    ]


def test_a_rate_that_was_not_taken_is_told(prepared: Shell) -> None:
    put = ("desk", "rates", "put", "SPOT", "--bid", "1", "--ask", "1.02")
    assert prepared.run(*put).stderr == ""
    late = prepared.run(*put, "--at", "2020-01-01")
    assert late.returncode == 1
    assert late.stderr == "Not set: there is a newer rate, which is shown.\n"


def test_a_secret_is_shown_once_and_said_to_be(prepared: Shell) -> None:
    words = ("desk", "keys", "issue", "aurum", "--environment", "production", "--name", "a")
    done = prepared.run(*words)
    assert "key_live.main." in done.stdout
    assert "shown only once" in done.stderr
    assert "key_live" not in prepared.run("desk", "keys", "list", "aurum").stdout


def test_refusals_are_sentences_with_exit_code_one(prepared: Shell) -> None:
    said = prepared.refused("desk", "accounts", "create", "aurum", "--group", "retail", code=1)
    assert said == "bullion: There is an account aurum already.\n"
    assert "no such account" in prepared.refused("desk", "keys", "list", "nobody", code=1)
    assert "no such order" in prepared.refused("desk", "orders", "show", "x", code=1)
    assert "no decision" in prepared.refused("desk", "traces", "show", "x", code=1)
    assert "outcome" in prepared.refused("desk", "traces", "list", "--outcome", "x", code=1)
    assert "since" in prepared.refused("desk", "orders", "list", "--since", "noon", code=1)
    put = ("desk", "rates", "put")
    assert "ask" in prepared.refused(*put, "SPOT", "--bid", "2", "--ask", "1", code=1)
    assert "BULLION_FEED=desk" in prepared.refused(*put, "GOLD", "--bid", "1", "--ask", "2", code=1)
    assert prepared.desk(*put[1:], "GOLD", "--bid", "1", "--ask", "1", BULLION_FEED="desk")["taken"] is True
    assert "2026-02-30" in prepared.refused("desk", "duties", "put", "gold", "2026-02-30=1", code=1)
    assert "no group" in prepared.refused("desk", "accounts", "create", "x", "--group", "none", code=1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["accounts", "set", "aurum", "alocation.gold=1"], "There is no field 'alocation'"),
        (["accounts", "set", "aurum", "allocation.lead=1"], "there are: gold, silver"),
        (["accounts", "set", "aurum", "active=maybe"], "active must be true or false, not 'maybe'."),
        (
            ["switches", "set", "budgets.reads_per_minute=x"],
            "reads_per_minute must be a whole number, not 'x'.",
        ),
        (["accounts", "set", "aurum", "active"], "field=value"),
        (["accounts", "set", "aurum", "active.x=1"], "followed by a dot"),
        (["symbols", "put", "GOLD", "--file", "nowhere.json"], "nowhere.json: No such file"),
        (["groups", "put", "retail", "--file", "-"], "not valid JSON"),
        (["keys", "issue", "aurum", "--environment", "live", "--name", "x"], "live"),
        (["duties", "put", "gold", "2026-05-13"], "date=rupees"),
        (["orders", "list", "--environment", "live"], "live"),
        (["orders", "list", "--status", "done"], "done"),
    ],
)
def test_misuse_is_told_with_exit_code_two(prepared: Shell, words: list[str], said: str) -> None:
    assert said in prepared.refused("desk", *words, code=2)


def test_what_hurts_is_not_done_unasked(prepared: Shell) -> None:
    before = prepared.desk("audit", "list")["total"]
    for words in (
        ["keys", "revoke", "0" * 16],
        ["tokens", "delete", "0" * 16],
        ["switches", "set", "production=true"],
        ["accounts", "reset-test-book", "aurum"],
    ):
        assert "--yes" in prepared.refused("desk", *words, code=2), words
    assert prepared.desk("audit", "list")["total"] == before


def test_a_person_is_asked_and_may_say_no(prepared: Shell) -> None:
    ours, theirs = pty.openpty()
    asked = subprocess.Popen(
        [*PROGRAM, "desk", "switches", "set", "production=false", "halted=true"],
        cwd=prepared.folder,
        env=environment(**prepared.settings),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    os.write(ours, b"y\nn\n")
    said, _ = asked.communicate(timeout=60)
    for descriptor in (ours, theirs):
        os.close(descriptor)
    assert "every order of every client is refused" in said
    assert "Orders that the desk places are still accepted." in said
    assert asked.returncode == 1
    assert prepared.desk("switches", "show")["halted"] is False


def test_a_token_acts_in_its_role_and_for_its_broker(prepared: Shell) -> None:
    token = prepared.desk("tokens", "create", "Asha", "--role", "dealer")["token"]
    acting = {"BULLION_TOKEN": token}
    assert prepared.desk("switches", "set", "halted=true", "--yes", **acting)["halted"] is True
    assert "role" in prepared.refused(
        "desk", "accounts", "create", "x", "--group", "retail", code=1, **acting
    )
    assert prepared.desk("audit", "list", "--limit", "1")["items"][0]["actor"].startswith("Asha (")
    assert "not a valid desk token" in prepared.refused(
        "desk", "--token", "rubbish", "accounts", "list", code=2
    )
    assert "no broker" in prepared.refused("desk", "--broker", "nowhere", "accounts", "list", code=2)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["accounts"],
        ["accounts", "set"],
        ["accounts", "reset-test-book"],
        ["keys", "issue"],
        ["switches", "set"],
        ["rates", "put"],
        ["duties", "put"],
        ["orders", "list"],
        ["traces", "list"],
    ],
)
def test_help_is_there_for_every_level(tmp_path: Path, words: list[str]) -> None:
    done = Shell(tmp_path, {}).run("desk", *words, "--help")
    assert done.returncode == 0
    assert "Usage: " in done.stdout


def test_the_doctor_finds_nothing_wrong(prepared: Shell) -> None:
    done = prepared.run("doctor")
    assert done.returncode == 0
    assert all(line.startswith("ok ") for line in done.stdout.splitlines())


def test_the_doctor_beside_a_running_service(
    tmp_path: Path, postgres: Postgres, schema_template: str, redis: Redis
) -> None:
    address = postgres.new_database(schema_template)
    settings = {"BULLION_DATABASE_URL": address, "BULLION_REDIS_URL": redis.url}
    with running(tmp_path, **settings) as node:
        done = Shell(tmp_path, node.settings).run("doctor")
    assert done.returncode == 0
    assert "redis: answers." in done.stdout
    assert not done.stderr


def test_the_doctor_tries_what_a_call_needs_of_redis(prepared: Shell, redis: Redis) -> None:
    redis.command("ACL", "SETUSER", "timid", "on", ">secret", "~*", "+@all", "-@scripting")
    try:
        done = prepared.run("doctor", BULLION_REDIS_URL=redis.url.replace("//", "//timid:secret@"))
    finally:
        redis.command("ACL", "DELUSER", "timid")
    assert done.returncode == 1
    assert "BAD  redis: cannot be used (NOPERM" in done.stdout


def test_commands_and_the_doctor_tell_what_cannot_be_read(prepared: Shell) -> None:
    """On SQLite, whose store a test can reach into without a server."""
    shell = prepared
    for code in ("GOLD", "OTHER"):
        shell.desk("symbols", "put", code, "--file", "-", stdin=json.dumps(SYMBOL))
    shell.desk("duties", "put", "customs", "2026-01-01=5")
    with contextlib.closing(sqlite3.connect(shell.folder / "var" / "bullion.db")) as store, store:
        store.execute("UPDATE symbols SET pricing = 'rubbish' WHERE code = 'GOLD'")
        store.execute("UPDATE duties SET from_date = 'someday'")
    listed = shell.run("desk", "symbols", "list")
    assert "OTHER" in listed.stdout
    assert "GOLD cannot be read (pricing: " in listed.stderr
    assert "PUT /symbols/GOLD with the whole symbol" in listed.stderr
    assert "customs cannot be read" in shell.run("desk", "duties", "list").stderr
    assert "PUT /symbols/GOLD" in shell.refused("desk", "symbols", "set", "GOLD", "frozen=true", code=1)
    done = shell.run("doctor")
    assert done.returncode == 1
    (line,) = [line for line in done.stdout.splitlines() if "symbol GOLD" in line]
    assert line.startswith("BAD  rows: The stored symbol GOLD of broker main cannot be read (pricing: ")
    assert "symbol_not_trading" in line
    shell.desk("symbols", "put", "GOLD", "--file", "-", stdin=json.dumps(SYMBOL))
    shell.desk("duties", "put", "customs", "2026-01-01=5")
    assert shell.run("doctor").returncode == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"BULLION_REDIS_URL": "redis://127.0.0.1:1"}, "BAD  redis: cannot be used"),
        ({"BULLION_DATABASE_URL": "postgresql://bullion@127.0.0.1:1/x"}, "BAD  store: "),
        ({"BULLION_DATABASE_URL": "sqlite:///nowhere.db"}, "'bullion migrate' creates it"),
        ({"BULLION_SECRET": SECRET[::-1]}, "BAD  store: BULLION_SECRET"),
        ({"BULLION_MARKET": "none.toml"}, "BAD  market: BULLION_MARKET: none.toml cannot be read"),
    ],
)
def test_the_doctor_says_what_is_wrong(prepared: Shell, settings: dict[str, str], said: str) -> None:
    done = prepared.run("doctor", **settings)
    assert done.returncode == 1
    assert said in done.stdout
    assert "Traceback" not in done.stderr


FIXED = {**SYMBOL, "pricing": {"kind": "fixed", "buy": "151000", "sell": "150000"}}
LANDED = {
    "kind": "landed",
    "spot": "XAU",
    "currency": "RUPEE",
    "premium_usd": "0",
    "interbank": "0",
    "conversion": "0.3215",
    "duty": "customs",
    "margin": "0",
}
SLIPS = {
    "a duty with a digit too many": (("duties", "put", "customs", "2020-01-01=83500"), None, "75150.00"),
    "a premium without its minus": (
        ("groups", "put", "retail", "--file", "-"),
        json.dumps({"default_terms": {"buy_premium": "50", "sell_premium": "463"}}),
        "463.00",
    ),
    "a step of a margin into a loss": (
        ("groups", "step", "retail", "--symbol", "BAR", "--side", "buy", "--by", "-62.50"),
        None,
        "12.50",
    ),
    "crossed fixed prices": (
        ("symbols", "set", "COIN", 'pricing={"kind":"fixed","buy":"146000","sell":"151000"}'),
        None,
        "5000.00",
    ),
    "silver on gold": (("symbols", "set", "BAR", "pricing={SILVER}"), None, "30000.00"),
    "10 g as 1 g": (("symbols", "set", "COIN", "quoted_weight=1"), None, "134583.30"),
    "a large tolerance": (("switches", "set", "price_tolerance_percent=50"), None, "75500.00"),
    "a wide limit": (("switches", "set", "price_move_percent_max=50"), None, "75500.00"),
    "crossed prices": (("switches", "set", "refuse_crossed=false"), None, "buy and sell at a profit"),
    "another group": (("accounts", "set", "aurum", "group=staff"), None, "500.00"),
    "a lost digit": (("rates", "put", "METAL", "--bid", "15000", "--ask", "15010"), None, "135090.00"),
}


@pytest.mark.parametrize("store", ["prepared", "on_postgres"])
def test_slips_in_prices_ask_and_are_taken_back(store: str, request: pytest.FixtureRequest) -> None:
    """Each shows the loss, does nothing without the second word, and gives the command to repeat."""
    prepared: Shell = request.getfixturevalue(store)
    for name, bid, ask in (
        ("METAL", "150000", "150100"),
        ("WHITE", "180000", "180100"),
        ("XAU", "4800", "4801"),
        ("RUPEE", "92", "92.01"),
    ):
        prepared.desk("rates", "put", name, "--bid", bid, "--ask", ask)
    prepared.desk("duties", "put", "customs", "2020-01-01=8350")
    terms = {"default_terms": {"buy_premium": "50", "sell_premium": "-463"}}
    prepared.desk("groups", "put", "retail", "--file", "-", stdin=json.dumps(terms))
    for code, pricing in {
        "COIN": FIXED["pricing"],
        "BAR": {"kind": "direct", "instrument": "METAL"},
        "LANDED": LANDED,
    }.items():
        body = json.dumps({**SYMBOL, "pricing": pricing, "rate_age_s_max": None})
        prepared.desk("symbols", "put", code, "--file", "-", stdin=body)
    staff = {"terms": {"COIN": {"buy_premium": "-500", "sell_premium": "-500"}}}
    asked = prepared.run("desk", "groups", "put", "staff", "--file", "-", stdin=json.dumps(staff))
    confirm = shlex.split(asked.stderr.split("all the same:\n")[1].strip().removeprefix("bullion "))
    assert prepared.run(*confirm, stdin=json.dumps(staff)).returncode == 0
    before = prepared.desk("audit", "list", "--limit", "1")
    for name, (given, stdin, loss) in SLIPS.items():
        words = [each.replace("{SILVER}", '{"kind":"direct","instrument":"WHITE"}') for each in given]
        asked = prepared.run("desk", *words, stdin=stdin)
        assert asked.returncode == 1, name
        assert "Nothing was changed." in asked.stderr, name
        assert "confirm=" not in asked.stderr, name
        assert loss in asked.stdout + asked.stderr, (name, asked.stdout)
        assert shlex.join(["bullion", "desk", *words, "--confirm"]) in asked.stderr, name
    assert prepared.desk("audit", "list", "--limit", "1") == before
    # The last of them, confirmed as the command says, and taken back.
    repeated = asked.stderr.split("all the same:\n")[1].strip().removeprefix("bullion ")
    done = prepared.run(*shlex.split(repeated))
    assert done.returncode == 0, done.stderr
    assert "135100.00" in done.stdout or "15060.00" in done.stdout
    undo = done.stderr.split("within a minute: bullion ")[1].split()
    assert prepared.run(*undo).returncode == 0
    (rate,) = [each for each in prepared.desk("rates", "list")["items"] if each["instrument"] == "METAL"]
    assert rate["bid"] == "150000.000000"
    assert "changed again" in prepared.refused(*undo, code=1)
