"""What operators watch: the metrics of a node, the alert rules and the dashboard, on a real Prometheus.

A node with two workers on PostgreSQL and Redis is scraped every second, under load and in outages.
"""

import contextlib
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from bullion import __version__
from bullion.refusals.catalogue import CATALOGUE
from tests.docs.markdown import ROOT, anchors, blocks
from tests.support.fix_node import CONTRACT
from tests.support.node import Node, shared, until
from tests.support.orders import GOLD, UNBOUNDED
from tests.support.prometheus import Prometheus, metric_names
from tests.support.servers import NotInstalled, Postgres, Redis, find, missing

RULES = ROOT / "deploy/prometheus/bullion-alerts.yml"
DASHBOARD = ROOT / "deploy/grafana/bullion.json"
DESK = ROOT / "docs/desk.md"
DEPLOYMENT = ROOT / "docs/deployment.md"
PATIENCE_S = 40
RATE = {"bid": "71230", "ask": "71240"}


def rules_text() -> str:
    """The rules with the folded lines of their expressions joined."""
    return re.sub(r">-\n((?: {10}.*\n)+)", lambda found: " ".join(found[1].split()) + "\n", RULES.read_text())


def expressions() -> dict[str, str]:
    return dict(re.findall(r"- alert: (\w+)\n +expr: (.+)\n", rules_text()))


def hurried_rules() -> str:
    """The rules with short windows, so that a test need not wait: only numbers of seconds differ."""
    text = re.sub(r"for: \w+", "for: 500ms", RULES.read_text())
    text = re.sub(r"\[[15]m\]", "[6s]", text)
    # The slowest task runs every five seconds.
    return re.sub(r"(seconds\b.*|\(bullion_rate_timestamp_seconds\)) > (30|60)\b", r"\1 > 8", text)


def panel_queries() -> dict[str, str]:
    dashboard = json.loads(DASHBOARD.read_text("utf-8"))
    found: dict[str, str] = {}
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            query = target["expr"].replace("$instance", ".*").replace("$__rate_interval", "10s")
            found[f"{panel['title']} {target['refId']}"] = query
    return found


@dataclass
class Stack:
    node: Node
    postgres: Postgres
    redis: Redis
    prometheus: Prometheus
    rates_set: threading.Event
    """While it is set, the desk sets rates and clients trade."""

    def families(self) -> dict[str, Any]:
        text = self.prometheus.http.get(f"{self.node.desk_url}/metrics").text
        return {family.name: family for family in text_string_to_metric_families(text)}

    def value(self, name: str, **labels: str) -> float:
        (found,) = [
            sample.value
            for family in self.families().values()
            for sample in family.samples
            if sample.name == name and sample.labels == labels
        ]
        return float(found)


@contextlib.contextmanager
def repeated(work: Callable[[], object], every_s: float = 0.4) -> Iterator[None]:
    """Do it again and again in a thread, whatever becomes of it."""
    end = threading.Event()

    def repeat() -> None:
        while not end.wait(every_s):
            with contextlib.suppress(httpx.HTTPError):
                work()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    try:
        find("prometheus")
    except NotInstalled as error:
        missing(error, "prometheus")
    with contextlib.ExitStack() as ends:
        postgres, redis = Postgres(), Redis()
        ends.callback(postgres.remove)
        ends.callback(redis.remove)
        settings = {
            "BULLION_DATABASE_URL": postgres.make().new_database(),
            "BULLION_REDIS_URL": redis.start().url,
            "BULLION_WORKERS": "2",
            "BULLION_PRODUCTION": "on",
            "BULLION_FEED": "desk",
        }
        node = ends.enter_context(shared(tmp_path_factory.mktemp("node"), **settings))
        desk = ends.enter_context(node.desk())
        desk.add_group().account("client", allocation={"gold": "1000000"}, production_trading=True)
        budgets = {**UNBOUNDED, "account_orders_per_minute": 100_000}
        desk.do("PATCH", "/switches", {"production": True, "budgets": budgets})
        desk.do("PATCH", "/hedge/book/gold", {"limit": "1000000"})
        desk.do("PUT", "/rates/GOLD", RATE)
        desk.do("PUT", "/symbols/GOLD", GOLD | {"pricing": {"kind": "direct", "instrument": "GOLD"}})
        desk.do("PUT", "/hedge/contracts/GRAMS", CONTRACT)
        wanted = {"contract": "GRAMS", "side": "buy", "quantity": "1", "idempotency_key": "one"}
        desk.do("POST", f"/hedge/covers/{desk.do('POST', '/hedge/covers', wanted)['id']}/send")
        prometheus = Prometheus(node.desk_url.removeprefix("http://"), hurried_rules())
        ends.callback(prometheus.remove)
        rates_set = threading.Event()
        rates_set.set()
        for environment, base in (("test", "/api/trading/test/v1"), ("production", "/api/trading/v1")):
            client = ends.enter_context(node.api(desk.key("client", environment)["key"]))
            ends.enter_context(repeated(partial(trade, client, base)))
        ends.enter_context(repeated(lambda: rates_set.is_set() and desk.put("/rates/GOLD", json=RATE), 0.5))
        made = Stack(node, postgres, redis, prometheus.start(), rates_set)
        late = {
            "bullion_schema_step",
            "bullion_book_limit_used",
            "bullion_book_value_at_risk",
            "bullion_book_not_counted",
            "bullion_covers",
        }
        until(lambda: late <= set(made.families()), PATIENCE_S)
        yield made


_orders = iter(range(1_000_000))


def trade(client: httpx.Client, base: str) -> None:
    number = next(_orders)
    side = "buy" if number % 2 else "sell"
    order = {"symbol_code": "GOLD", "trade_type": side, "quantity": 1}
    client.post(f"{base}/orders", json=order, headers={"Idempotency-Key": f"order-{number}"})
    client.get(f"{base}/orders")


# --- What is exported -----------------------------------------------------------------------------------


def test_the_table_of_metrics_has_every_metric_and_no_other(stack: Stack) -> None:
    rows = re.findall(r"(?m)^\| `(bullion_\w+?)(?:_total)?` \|(.*?)\|", table_text("## Health and metrics"))
    documented = dict(rows)
    exported = stack.families()
    assert set(documented) == set(exported)
    for name, family in exported.items():
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        assert labels == set(re.findall(r"`(\w+)`", documented[name])), name


def test_the_table_of_tasks_has_every_task_and_no_other(stack: Stack) -> None:
    rows = table_text("### Background tasks")
    documented = set(re.findall(r"(?m)^\| `(\w+)` \|", rows)) - {"task", "feed"}  # Rates come from the desk.

    def exported() -> set[str]:
        tasks = stack.families()["bullion_task_success_timestamp_seconds"].samples
        return {sample.labels["task"] for sample in tasks}

    until(lambda: exported() == documented, PATIENCE_S)


def table_text(heading: str) -> str:
    return DESK.read_text("utf-8").partition(heading)[2].partition("\n## ")[0]


def test_the_values_of_two_workers_become_one(stack: Stack) -> None:
    until(lambda: stack.value("bullion_workers") == 2, PATIENCE_S)
    assert stack.value("bullion_store_connections_max") == 16
    assert stack.value("bullion_limiter_up", kind="redis") == 1
    assert stack.value("bullion_ready", check="store") == 1
    (info,) = stack.families()["bullion_build_info"].samples
    assert (info.labels["version"], info.labels["engine"], info.value) == (__version__, "postgres", 1)
    steps = {s.labels["of"]: s.value for s in stack.families()["bullion_schema_step"].samples}
    assert steps["code"] == steps["store"] >= 1
    (time,) = stack.families()["bullion_store_time_seconds"].samples
    clock = float(stack.postgres.sql("SELECT extract(epoch FROM clock_timestamp())"))
    assert abs(time.value - clock) < 10  # Of seconds, not of another zone or unit.
    until(lambda: stack.value("bullion_booking_batch_orders_count", environment="production") > 3, PATIENCE_S)
    assert (
        stack.value("bullion_rate_timestamp_seconds", instrument="GOLD", source="desk", broker="main") > 1e9
    )


def test_no_label_holds_an_account_a_key_or_an_order(stack: Stack) -> None:
    values = {
        value
        for family in stack.families().values()
        for sample in family.samples
        for value in sample.labels.values()
    }
    assert "client" not in values
    assert not [value for value in values if re.search(r"[0-9a-f]{8}", value)]


# --- The rules and the dashboard ------------------------------------------------------------------------


def promtool(folder: Path, *words: str) -> None:
    try:
        program = find("promtool")
    except NotInstalled as error:
        missing(error, "prometheus")
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_rules_keep_their_own_tests() -> None:
    for name in ("bullion-alerts", "machine-alerts", "market-alerts"):
        promtool(RULES.parent, "check", "rules", f"{name}.yml")
        promtool(RULES.parent, "test", "rules", f"{name}.test.yml")


def test_the_configuration_that_is_shown_is_valid(tmp_path: Path) -> None:
    (shown,) = [block.text for block in blocks(DEPLOYMENT) if block.text.startswith("scrape_configs:")]
    (tmp_path / "prometheus.yml").write_text(shown, "utf-8")
    shutil.copy(RULES, tmp_path)
    promtool(tmp_path, "check", "config", "prometheus.yml")


def test_every_rule_has_a_test_and_an_explanation() -> None:
    tests = (RULES.parent / "bullion-alerts.test.yml").read_text("utf-8")
    table = DEPLOYMENT.read_text("utf-8").partition("## Alarms")[2].partition("\n## ")[0]
    for name in expressions():
        assert name in tests
    assert set(re.findall(r"(?m)^\| `(Bullion\w+)` \|", table)) == set(expressions())


def test_the_rules_name_codes_and_pages_that_exist() -> None:
    codes = {row.code for row in CATALOGUE}
    named = {code for words in re.findall(r'code=~"([a-z_|]+)"', rules_text()) for code in words.split("|")}
    assert len(named) > 8
    assert named <= codes
    pages = set(re.findall(r"handbook: (\S+)", RULES.read_text("utf-8")))
    for page in pages:
        path, _, anchor = page.partition("#")
        assert not anchor or anchor in anchors(ROOT / path), page
        assert (ROOT / path).exists()


def test_the_tests_rules_differ_in_times_alone() -> None:
    without = re.compile(r"for: \w+|\[\w+\]|> \d+")
    assert without.sub("", hurried_rules()) == without.sub("", RULES.read_text("utf-8"))
    assert hurried_rules().count("> 8") == 4


def test_alerts_fire_in_their_outage_and_are_silent_otherwise(stack: Stack) -> None:
    prometheus = stack.prometheus
    exported = {
        name for family in stack.families().values() for name in (family.name, f"{family.name}_total")
    }
    for query in [*panel_queries().values(), *expressions().values()]:
        assert metric_names(query) <= exported, query

    def without_data() -> list[str]:
        return [
            panel
            for panel, query in panel_queries().items()
            if "> 0" not in query and not prometheus.query(query)
        ]

    with contextlib.suppress(AssertionError):
        until(lambda: not without_data(), PATIENCE_S)
    assert without_data() == []
    until(lambda: not prometheus.firing(), PATIENCE_S)

    def outage(begin: Callable[[], object], end: Callable[[], object], alert: str, *others: str) -> None:
        begin()
        seen: set[str] = set()

        def fires() -> bool:
            seen.update(prometheus.firing())
            return alert in seen

        until(fires, PATIENCE_S)
        for query in [*panel_queries().values(), *expressions().values()]:
            prometheus.query(query)
        end()
        until(lambda: not prometheus.firing(), PATIENCE_S)
        # The alerts wait for a second here, and for minutes elsewhere: a busy machine may be late for one.
        assert seen <= {alert, *others, "BullionReconciliationLate"}
        assert prometheus.errors() == []

    def hedge(mode: str) -> None:
        with stack.node.desk() as desk:
            desk.do("PATCH", "/hedge", {"mode": mode})

    def fill() -> None:
        """Until all that waited is filled: else it may be too old again, in the next outage."""
        hedge("fill")
        until(lambda: not prometheus.query("bullion_hedges_waiting > 0"), PATIENCE_S)

    outage(stack.redis.stop, stack.redis.start, "BullionLimiterDown", "BullionCallsRefused")
    outage(lambda: hedge("down"), fill, "BullionVenueUnreachable", "BullionCallsRefused")
    outage(lambda: hedge("hold"), fill, "BullionHedgeWaitsLong", "BullionHedgesGrow")
    outage(stack.rates_set.clear, stack.rates_set.set, "BullionRatesStale", "BullionRatesRefused")
    answers = ("BullionCallsRefused", "BullionOutcomeUnknown", "BullionHedgeWaitsLong")
    outage(stack.postgres.stop, stack.postgres.start, "BullionNotReady", *answers)
