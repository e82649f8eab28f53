"""Writes what a node says about itself, and removes it when the node stops."""

import asyncio
from collections.abc import Callable

import msgspec
import structlog

from bullion.faults import StoreFault
from bullion.last_success import note_start, note_success
from bullion.records.node_report import FORGOTTEN_US, NodeReport

from .engine import Engine, Transaction

PREFIX = "node "
"""Precedes the node's name in the names of the deployment's values."""
_LOOK_S = 0.5
_EVERY_US = 2_000_000

_log = structlog.get_logger("store")
_encode = msgspec.json.Encoder().encode


class NodeReports:
    def __init__(
        self, engine: Engine, node: str, now_us: Callable[[], int], report: Callable[[int], NodeReport]
    ) -> None:
        """`report` is called with the time."""
        self._engine = engine
        self._name = f"{PREFIX}{node}"
        self._now_us = now_us
        self._report = report
        self._written: NodeReport | None = None

    async def run(self) -> None:
        """Run for as long as the node does. A change is written at once, and otherwise every two seconds."""
        note_start("node_report")
        while True:
            report = self._report(self._now_us())
            before = self._written
            if before is None or report.at_us - before.at_us >= _EVERY_US or _differ(report, before):
                await self.write(report)
            await asyncio.sleep(_LOOK_S)

    async def write(self, report: NodeReport) -> None:
        async def body(transaction: Transaction) -> None:
            if self._written is None:
                await _delete_forgotten(transaction, report.at_us)
            await transaction.run("put_deployment_value", self._name, _encode(report).decode())

        try:
            await self._engine.write("node_report", body)
        except StoreFault as fault:
            # The desk sees that this node has fallen silent.
            _log.warning("node_report_not_written", fault=repr(fault))
        else:
            self._written = report
            note_success("node_report")

    async def remove(self) -> None:
        """The node stops as it should: nobody must miss it."""
        try:
            await self._engine.write(
                "node_report", lambda open_: open_.run("delete_deployment_value", self._name)
            )
        except StoreFault as fault:
            _log.warning("node_report_not_removed", fault=repr(fault))


def _differ(report: NodeReport, before: NodeReport) -> bool:
    return msgspec.structs.replace(report, at_us=before.at_us) != before


async def read_reports(transaction: Transaction) -> dict[str, NodeReport]:
    """By node. What another version wrote, and this one cannot read, is left out."""
    found = {}
    for row in await transaction.all("node_reports"):
        try:
            found[row["name"]] = msgspec.json.decode(row["value"], type=NodeReport)
        except msgspec.MsgspecError:
            continue
    return found


async def _delete_forgotten(transaction: Transaction, now_us: int) -> None:
    for name, report in (await read_reports(transaction)).items():
        if now_us - report.at_us > FORGOTTEN_US:
            await transaction.run("delete_deployment_value", name)
