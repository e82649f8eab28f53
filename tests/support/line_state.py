"""The state of a line in a store, without a node that holds one."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import msgspec

from bullion.hedge.fix.line_control import LineReport


def line_report(at_us: int | None = None, **fields: object) -> LineReport:
    """A line that is up since a second, and keeps numbers."""
    now_us = time.time_ns() // 1000 if at_us is None else at_us
    report = LineReport(
        at_us=now_us,
        held_by="a node:8080",
        venue="VENUE",
        profile="keeping",
        state="up",
        since_us=now_us - 1_000_000,
        is_open=True,
        changes_us=0,
        keeps_numbers=True,
        refused=False,
        incoming=7,
        outgoing=9,
        in_us=now_us,
        out_us=now_us,
        message="",
    )
    return msgspec.structs.replace(report, **fields)


def put_line_state(store: Path, name: str, broker: str, report: LineReport) -> None:
    """Write it into a store of SQLite."""
    with closing(sqlite3.connect(store)) as open_store, open_store:
        open_store.execute(line_state_statement(name, broker, report))


def line_state_statement(name: str, broker: str, report: LineReport) -> str:
    told = msgspec.json.encode(report).decode().replace("'", "''")
    return (
        "INSERT INTO line_states (line, broker, at_us, report) "
        f"VALUES ('{name}', '{broker}', {report.at_us}, '{told}') "
        "ON CONFLICT (line) DO UPDATE SET at_us = excluded.at_us, report = excluded.report"
    )
