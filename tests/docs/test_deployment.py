"""The guide to deployment: its numbers are those of the code, its examples work on PostgreSQL and Redis."""

import os
import re
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bullion import serve
from bullion.api import event_stream, gate, open_streams, rate_limits
from bullion.api.wire.events import WAIT_S_MAX
from bullion.booking import hedge_requests, hedging, queue, verify
from bullion.budgets import redis_link
from bullion.hedge import watch
from bullion.rates.feeds import feed, simulated
from bullion.settings import Settings, read_settings
from bullion.store import (
    ledger_postgres,
    postgres_hosts,
    postgres_migration,
    postgres_stalls,
    queries,
    schema,
    sqlite,
    traces,
)
from bullion.store import postgres as engine
from bullion.web import listener_shutdown
from bullion.web.protocol import GuardedProtocol
from bullion.workers import worker_pool as workers
from tests.docs.examples import run_shell
from tests.docs.markdown import ROOT, Block, blocks, prose
from tests.docs.tables import tables_of
from tests.support.command import bullion
from tests.support.node import DESK_TOKEN, SECRET, Node, running
from tests.support.servers import NotInstalled, Postgres, Redis, find
from tests.support.tls import offer_tls

pytestmark = pytest.mark.one_worker("docs-deployment")

PAGE = ROOT / "docs/deployment.md"


def section(heading: str) -> str:
    return prose(PAGE).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def rows(heading: str) -> list[list[str]]:
    lines = [line for line in section(heading).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def of_language(language: str) -> list[Block]:
    return [block for block in blocks(PAGE) if block.language == language]


# --- What it says of the code ---------------------------------------------------------------------------


def test_the_numbers_of_connections() -> None:
    each = engine.POOL_SIZE + 1
    assert f"up to {engine.POOL_SIZE} connections" in section("Connections")
    assert f"{each} in all" in section("Connections")
    assert f"{verify._CONCURRENT_MAX} at a time" in section("Connections")
    (formula,) = [block.text for block in of_language("text") if block.text.startswith("connections at most")]
    assert f"nodes × ({engine.POOL_SIZE} + 1)" in formula
    assert f"+ {each} for each machine while its workers are replaced" in formula
    assert (
        f"+ {verify._CONCURRENT_MAX} for each node, for up to {ledger_postgres.VERIFY_S:g} seconds" in formula
    )
    counted = [[int(cell) for cell in row] for row in rows("Connections")]
    assert counted
    for machines, per_machine, connections in counted:
        assert connections == machines * per_machine * each


def test_the_limits_of_time() -> None:
    shown = {row[0].strip("`"): row[1] for row in rows("Time limits")}
    for name in ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"):
        assert shown[name].replace(" ", "") == engine._SERVER_SETTINGS[name]
    idle, interval, tries = (
        engine._SERVER_SETTINGS[f"tcp_keepalives_{name}"] for name in ("idle", "interval", "count")
    )
    keepalive = f"tcp_keepalives_idle` + {tries} × `tcp_keepalives_interval"
    assert shown[keepalive] == f"{idle} s + {tries} × {interval} s"
    assert shown["connect` to PostgreSQL, each host"] == f"{engine._CONNECT_TIMEOUT_S:g} s"
    assert shown["a connection in use without an answer"] == f"{postgres_stalls.SUSPECT_S:g} s"
    assert shown["a host among several that says nothing"] == f"{postgres_hosts.HEAD_START_S:g} s"
    assert shown["wait for a free connection of the pool"] == f"{engine._TAKE_S:g} s"
    assert shown["a PostgreSQL that does not answer at all"] == f"{engine._COMMAND_TIMEOUT_S:g} s"
    assert shown["a response of Redis"] == f"{redis_link._ANSWER_S:g} s"
    assert shown["a Redis that does not answer"] == f"{redis_link._HANG_S:g} s"
    assert shown["an order's booking"] == f"{queue.DEADLINE_S:g} s"
    assert shown["looking for a lost booking"] == f"{ledger_postgres.VERIFY_S:g} s"
    assert shown["a production order's wait for the venue"] == f"{hedging.WAIT_S:g} s"
    assert shown["a call to the venue"] == f"{hedging._CALL_S:g} s"
    assert shown["the lease of a hedge request"] == f"{hedge_requests.LEASE_US / 1_000_000:g} s"
    assert shown["a venue that does not answer"] == f"{watch._REACHED_AGE_S_MAX:g} s"
    assert shown["the feed's lease"] == f"{feed._LEASE_S:g} s"
    accepting = "accepting connections that were opened before a node stopped"
    assert shown[accepting] == f"{listener_shutdown.HANDSHAKE_S:g} s"
    assert shown["an idle connection when a node stops"] == f"{GuardedProtocol.STOP_GRACE_SECONDS:g} s"
    assert shown["calls under way when a node stops"] == f"{serve._GRACE_S} s"
    at_a_reload = "calls under way at a reload on SQLite, or without Redis"
    assert shown[at_a_reload] == f"{serve._HAND_OVER_GRACE_S} s"
    starts_and_stops = f"{workers._START_S} s, {workers._GRACE_S} s"
    assert shown["a worker's start, a worker's stop"] == starts_and_stops


def test_the_limits_of_migrations() -> None:
    words = section("Migrations")
    assert f"waits {postgres_migration.LOCK_WAIT_S:g} seconds for a lock" in words
    assert postgres_migration.TRY_LOCKS_S == 60
    assert "tried again for a minute" in words
    assert f"{schema._LOCK_S_MAX} seconds unless it says" in words
    assert postgres_migration._WAIT_FOR_OTHERS_S == sqlite._WAIT_FOR_OTHERS_S == 600


def test_how_fresh_the_metrics_of_the_hedge_are() -> None:
    """Its alarms are compared with the alert rules in `tests/metrics`."""
    assert hedging._EVERY_S * hedging._WATCH_EVERY_TURNS == 5
    assert "read every five seconds" in section("Alarms")


def test_how_long_memory_is_believed() -> None:
    assert f"up to {gate.MEMORY_AGE_NS_MAX // 1_000_000_000} seconds" in section("Outages")


def test_the_numbers_of_streams() -> None:
    words = section("Reverse proxy").partition("### Streams")[2]
    assert f"may have {Settings().streams_per_key} streams open" in words
    assert f"open {rate_limits.STREAMS_PER_MINUTE} in a minute" in words
    assert f"longer than {open_streams.HEARTBEAT_S:g} seconds" in words
    assert f"unread for {GuardedProtocol.WRITE_SECONDS:g} seconds" in words
    assert event_stream._PAUSE_S * 5 == 1
    (nginx,) = [block.text for block in of_language("nginx") if "upstream" in block.text]
    (haproxy,) = [block.text for block in of_language("text") if block.text.startswith("defaults")]
    limits = re.findall(r"(?:proxy_read_timeout|timeout server|timeout client) (\d+)s", nginx + haproxy)
    assert len(limits) == 3
    assert all(int(limit) >= 2 * open_streams.HEARTBEAT_S for limit in limits)
    assert f"Set them longer than {WAIT_S_MAX} seconds" in words
    others = [ROOT / "docs/install-debian.md", ROOT / "deploy/compose/nginx.conf"]
    limits += [re.findall(r"proxy_read_timeout (\d+)s", path.read_text("utf-8"))[0] for path in others]
    assert all(int(limit) >= WAIT_S_MAX + 5 for limit in limits)


def test_the_names_of_transactions_and_locks() -> None:
    source = "\n".join(path.read_text("utf-8") for path in ROOT.glob("src/bullion/**/*.py"))
    words = section("Reading the store").partition("### Nodes in PostgreSQL")[2]
    for name in (
        "catalogue",
        "ticks",
        "publish_ticks",
        "key_uses",
        "traces",
        "order_page",
        "record_locked",
        "claim_hedges",
        "answer_hedges",
        "postpone_hedges",
        "hedges_waiting",
        "verify",
        "revoke_key",
    ):
        assert f"`{name}`" in words
        assert f'"{name}"' in source
    assert "pg_try_advisory_lock" in source
    assert "catalogue_state" in queries.load("postgres")


def test_the_feeds_it_tells_of() -> None:
    words = section("Rate feeds")
    assert [row[0] for row in rows("Rate feeds")] == ["`simulated`", "`desk`", "`live`"]
    assert all(f"`{instrument}`" in words for instrument in simulated.INSTRUMENTS)


def test_every_table_of_the_store_is_among_those_that_grow_or_do_not() -> None:
    named = [name for row in rows("Storage growth") for name in re.findall(r"`(\w+)`", row[0])]
    for kind in ("sqlite", "postgres"):
        assert sorted(named) == sorted(tables_of(kind))
    bounds = f"about {traces.BYTES_KEPT // 2**20} MiB, or {traces.ROWS_KEPT:,} rows"
    assert bounds in section("Storage growth")


def test_the_log_events_it_names_are_written_at_their_levels() -> None:
    source = "\n".join(path.read_text("utf-8") for path in ROOT.glob("src/bullion/**/*.py"))
    written = {name: level for level, name in re.findall(r'_log\.(\w+)\(\s*"(\w+)"', source)}
    events = rows("Logs of rates and orders")
    assert events
    for names, levels, _ in events:
        found = [
            written[name].replace("exception", "error")
            for name in re.findall(r"`(\w+)`", names)
            if name != "what"
        ]
        assert list(dict.fromkeys(found)) == levels.split(", "), names


def test_the_settings_it_shows_are_read(tmp_path: Path) -> None:
    shown = [block for block in of_language("ini") if block.text.startswith("# .env")]
    assert len(shown) == 2
    for block in shown:
        file = tmp_path / ".env"
        file.write_text(block.text, "utf-8")
        assert read_settings({}, file) != Settings()


def test_the_proxy_hands_on_what_the_gate_looks_at() -> None:
    block, console = of_language("nginx")
    assert "proxy_set_header Host $host;" in block.text
    assert "proxy_set_header Host $http_host;" in console.text
    assert "proxy_set_header X-Forwarded-Proto $scheme;" in console.text
    for each in (block, console):
        assert "proxy_set_header X-Forwarded-For" in each.text
        assert each.text.count("{") == each.text.count("}")
    assert "An **example** for nginx" in section("Reverse proxy")


# --- Its examples ---------------------------------------------------------------------------------------


@pytest.fixture
def programs() -> list[str]:
    try:
        return [find(name) for name in ("psql", "pg_dump", "pg_restore", "redis-cli")]
    except NotInstalled as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@pytest.fixture
def server(programs: list[str]) -> Iterator[Postgres]:
    """With TLS, and with the role and the database that the page makes."""
    server = Postgres()
    try:
        server.make()
        for statement in _statements(of_language("sql")[0]):
            server.sql(statement)
        yield server
    finally:
        server.remove()


@pytest.fixture
def node(tmp_path: Path, server: Postgres, redis: Redis) -> Iterator[Node]:
    address = f"postgresql://bullion_service:a%20long%20one@localhost:{server.port}/bullion"
    address += f"?sslmode=verify-full&sslrootcert={offer_tls(server)}"
    with running(tmp_path, BULLION_DATABASE_URL=address, BULLION_REDIS_URL=redis.url) as node:
        yield node


def test_the_examples(node: Node, server: Postgres, programs: list[str], tmp_path: Path) -> None:
    (restored,) = [block for block in of_language("sql") if "bullion_restored" in block.text]
    for statement in _statements(restored):
        server.sql(statement)
    with node.desk() as desk:
        desk.add_group().account("aurum", allocation={"gold": "1000", "silver": "50"})
        key = desk.key("aurum")["key"]
    variables = {"API": node.api_url, "DESK": node.desk_url, "DESK_TOKEN": DESK_TOKEN, "KEY": key}
    settings = ("BULLION_DATABASE_URL", "BULLION_REDIS_URL", "BULLION_SECRET")
    lines = [f"{name}='{node.settings[name]}'" for name in settings]
    (tmp_path / ".env").write_text("\n".join(lines), "utf-8")  # The page has its reader's shell read it.
    untrue = list(run_shell(PAGE, tmp_path, variables, programs))
    assert not untrue, "\n".join(untrue)
    assert stat.S_IMODE((tmp_path / "bullion.dump").stat().st_mode) == 0o600
    encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)"
    assert server.sql(f"{encrypted} WHERE usename = 'bullion_service'") == "t"


@pytest.mark.parametrize(
    ("address", "restored"),
    [
        ("postgresql://u:p@h/one", "postgresql://u:p@h/bullion_restored"),
        (
            "postgresql://u:p@h:5432/one?sslmode=require",
            "postgresql://u:p@h:5432/bullion_restored?sslmode=require",
        ),
        (
            "postgresql://u:p%2F@db1,db2:5433/one?sslmode=verify-full&sslrootcert=/etc/ssl/db-ca.pem",
            "postgresql://u:p%2F@db1,db2:5433/bullion_restored?sslmode=verify-full&sslrootcert=/etc/ssl/db-ca.pem",
        ),
        (
            "postgresql://u@/one?host=/var/run/postgresql",
            "postgresql://u@/bullion_restored?host=/var/run/postgresql",
        ),
    ],
)
def test_every_form_of_address_keeps_its_parameters_in_a_restore(address: str, restored: str) -> None:
    (line,) = [
        line for block in of_language("sh") for line in block.text.splitlines() if "RESTORED=$" in line
    ]
    shell = find("bash")
    script = f'{line}; printf %s "$RESTORED"'
    environment = os.environ | {"BULLION_DATABASE_URL": address}
    done = subprocess.run([shell, "-ec", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == restored


def test_what_the_doctor_says_between_migration_and_first_start(tmp_path: Path) -> None:
    assert "After `bullion migrate` alone there are 0 brokers" in section("PostgreSQL and Redis")
    assert bullion(tmp_path, "migrate").returncode == 0
    assert "schema up to date, brokers: 0." in bullion(tmp_path, "doctor").stdout


def test_the_roles_it_makes_are_enough_and_no_more(postgres: Postgres, tmp_path: Path) -> None:
    make, *_, show = of_language("sql")
    for statement in _statements(make):
        postgres.sql(statement)
    address = f"postgresql://bullion_service@127.0.0.1:{postgres.port}/bullion"
    done = bullion(tmp_path, "migrate", BULLION_DATABASE_URL=address, BULLION_SECRET=SECRET)
    assert done.returncode == 0, done.stderr
    for statement in _statements(show):
        postgres.sql(statement, "bullion")
    views = re.findall(r"readable_\w+", show.text)
    for view in views:
        assert postgres.sql(f"SET ROLE reporter; SELECT count(*) FROM {view}", "bullion").endswith("0")
    allowed = "SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    allowed += " AND relkind IN ('r', 'v') AND has_table_privilege('reporter', oid, 'SELECT')"
    assert set(postgres.sql(allowed, "bullion").split()) == set(views)


def _statements(block: Block) -> list[str]:
    return [statement for statement in block.text.split(";") if statement.strip()]
