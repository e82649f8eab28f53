"""When background tasks last succeeded: also of one that has not since the node started."""

import contextlib
import sqlite3
from math import isnan
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.support.migrated_store import copy_migrated
from tests.support.node import Node, running, until


def successes(node: Node) -> dict[str, float]:
    families = text_string_to_metric_families(httpx.get(f"{node.desk_url}/metrics").text)
    (found,) = [each for each in families if each.name == "bullion_task_success_timestamp_seconds"]
    return {sample.labels["task"]: sample.value for sample in found.samples}


def test_a_task_that_fails_from_the_start_has_the_time_of_the_start(tmp_path: Path) -> None:
    copy_migrated(tmp_path / "var" / "bullion.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "var" / "bullion.db")) as store, store:
        store.execute("ALTER TABLE book_rules RENAME TO away")
    with running(tmp_path) as node:
        until(lambda: node.entries("cover_planning_failed"), within_s=5)
        begun = successes(node)
        until(lambda: successes(node)["hedging"] > begun["hedging"] + 2, within_s=10)
        assert abs(successes(node)["cover_planning"] - begun["cover_planning"]) < 0.5
        assert begun["hedging"] - 10 < begun["cover_planning"] < begun["hedging"] + 1


def test_a_broker_that_cannot_be_compared_is_not_hidden_by_another_one(tmp_path: Path) -> None:
    copy_migrated(tmp_path / "var" / "bullion.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "var" / "bullion.db")) as store, store:
        store.execute(
            "INSERT INTO execution_cursors (venue, broker, position) VALUES ('simulated', 'main', 'x')"
        )
    with running(tmp_path) as node, node.desk() as desk:
        desk.do("PUT", "/brokers/other", {"name": "Other"})
        until(lambda: len(node.entries("reconciliation_failed")) > 1, within_s=10)
        begun = successes(node)
        until(lambda: successes(node)["hedging"] > begun["hedging"] + 4, within_s=10)
        assert abs(successes(node)["reconciliation"] - begun["reconciliation"]) < 0.5


def test_the_venue_of_a_broker_that_was_moved_away_is_not_unreachable(tmp_path: Path) -> None:
    """Its line is connected elsewhere. It would be told for ever, and hide that others are not compared."""
    with running(tmp_path) as node, node.desk() as desk:

        def reachable() -> float:
            lines = httpx.get(f"{node.desk_url}/metrics").text.splitlines()
            (line,) = [each for each in lines if each.startswith('bullion_venue_reachable{broker="main"}')]
            return float(line.split()[-1])

        until(lambda: reachable() == 1, within_s=5)
        desk.do("PATCH", "/hedge", {"mode": "down"})
        until(lambda: reachable() == 0, within_s=10)
        with contextlib.closing(sqlite3.connect(tmp_path / "var" / "bullion.db")) as store, store:
            store.execute("UPDATE brokers SET moved_store = 'other', moved_to = 'elsewhere', moved_at_us = 1")
            store.execute("UPDATE catalogue SET version = version + 1")
            store.execute("INSERT INTO changes SELECT version, 'broker', 'main', 'main' FROM catalogue")
        until(lambda: isnan(reachable()), within_s=10)
