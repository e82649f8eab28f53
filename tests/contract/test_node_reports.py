"""What nodes say about themselves in the store: written, read, removed, and forgotten after a while."""

import msgspec
import pytest

from bullion.records.node_report import FORGOTTEN_US, NodeReport
from bullion.store.engine import Engine
from bullion.store.node_reports import NodeReports, read_reports

pytestmark = pytest.mark.anyio

HOUR_US = 3_600_000_000


def report(at_us: int) -> NodeReport:
    return NodeReport(
        at_us=at_us,
        place="here:8000",
        workers=2,
        venue_down_us={"main": 5},
        limiter="redis",
        limiter_down_us=7,
        schema_unfit_us=None,
    )


async def held(engine: Engine) -> dict[str, NodeReport]:
    return await engine.read("node_reports", read_reports)


async def test_a_report_is_written_renewed_and_removed(engine: Engine) -> None:
    reports = NodeReports(engine, "a", lambda: 0, report)
    await reports.write(report(1))
    await reports.write(report(2))
    await NodeReports(engine, "b", lambda: 0, report).write(report(3))
    assert await held(engine) == {"node a": report(2), "node b": report(3)}
    await reports.remove()
    assert await held(engine) == {"node b": report(3)}


async def test_a_node_that_starts_deletes_what_nobody_expects_any_more(engine: Engine) -> None:
    await NodeReports(engine, "gone", lambda: 0, report).write(report(HOUR_US - FORGOTTEN_US - 1))
    await NodeReports(engine, "silent", lambda: 0, report).write(report(HOUR_US - FORGOTTEN_US))
    await NodeReports(engine, "new", lambda: 0, report).write(report(HOUR_US))
    assert sorted(await held(engine)) == ["node new", "node silent"]


async def test_a_report_of_another_version_is_left_out(engine: Engine) -> None:
    text = msgspec.json.encode({"at_us": 1}).decode()
    await engine.write("test", lambda open_: open_.run("put_deployment_value", "node other", text))
    await engine.write("test", lambda open_: open_.run("put_deployment_value", "nodes", "no report"))
    assert await held(engine) == {}
