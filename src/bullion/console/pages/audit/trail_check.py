"""The check of the audit trail from its first entry to its head: one at a time, shared by all pages."""

import asyncio
from datetime import UTC, datetime
from weakref import WeakKeyDictionary

import structlog

from bullion.console.forms import Dialog
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import AUDIT
from bullion.console.watch import BrokerWatch
from bullion.console.widgets.formatting import count
from bullion.desk.actions.audit import AuditCheckResult, check_audit
from bullion.desk.desk import Desk
from bullion.faults import StoreFault
from bullion.records.token import Actor

_PATIENCE_S = 5.0
"""A dialog does not wait longer; the page shows the result then."""
_log = structlog.get_logger("console")


class TrailCheck:
    """The last check of a broker's trail, and the one that is running."""

    def __init__(self) -> None:
        self.checked: AuditCheckResult | None = None
        self.at: datetime | None = None
        self.error: str | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        return self._task is not None

    async def run(self, desk: Desk, actor: Actor) -> None:
        """Start a check, or wait for the one that is running."""
        if self._task is None:
            self._task = asyncio.create_task(self._check(desk, actor))
        await asyncio.wait({self._task}, timeout=_PATIENCE_S)

    async def _check(self, desk: Desk, actor: Actor) -> None:
        try:
            self.checked = await check_audit(desk, actor)
            self.at, self.error = datetime.now(UTC), None
            if self.checked.breaks:
                broken = [each.ordinal for each in self.checked.breaks]
                _log.error("audit_broken", broker=actor.broker, entries=broken[:10])
        except StoreFault:
            self.error = "The store could not be reached. The check was not finished."
        except Exception:  # noqa: BLE001 - nobody awaits this task
            _log.exception("internal_error")
            self.error = "The check failed. The log says why."
        finally:
            self._task = None


_CHECKS: WeakKeyDictionary[BrokerWatch, TrailCheck] = WeakKeyDictionary()


def check_of(watch: BrokerWatch) -> TrailCheck:
    found = _CHECKS.get(watch)
    if found is None:
        found = _CHECKS[watch] = TrailCheck()
    return found


async def _ask(_visit: Visit) -> Dialog:
    return Dialog(
        title="Check the whole trail?",
        text=[
            "Every entry is read, and its hash is verified. Nothing is changed.",
            "Trading continues. A long trail takes some seconds; the page shows the result.",
        ],
        confirm="Check the trail",
    )


async def _check(visit: Visit) -> Result:
    check = check_of(visit.watch)
    await check.run(visit.desk, visit.actor)
    if check.running:
        return Result("The trail is being checked. The page will show the result.")
    if check.error or check.checked is None:
        return Result(check.error or "The trail was not checked.")
    if check.checked.breaks:
        return Result(f"The trail is broken at entry {check.checked.breaks[0].ordinal}.")
    return Result(f"The trail is intact: {count(check.checked.entries)} entries.")


CHECK = Action(AUDIT, "check", "Check the trail", None, _ask, _check)
