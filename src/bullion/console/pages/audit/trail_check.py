"""Whether the trail is whole: followed from the first entry to its head when somebody asks, once for all."""

import asyncio
from datetime import UTC, datetime
from weakref import WeakKeyDictionary

import structlog

from bullion.console.html import Html
from bullion.console.page import Action, Result, Visit
from bullion.console.watch import BrokerWatch
from bullion.console.widgets.dialog import dialog
from bullion.console.widgets.formatting import grouped
from bullion.desk.actions.audit import Checked, check_audit
from bullion.desk.desk import Desk
from bullion.faults import StoreFault
from bullion.records.token import Actor, Role

_PATIENCE_S = 5.0
"""A dialog does not wait longer; the page tells the rest."""
_log = structlog.get_logger("console")


class TrailCheck:
    """The last check of a broker's trail, and the one under way."""

    def __init__(self) -> None:
        self.checked: Checked | None = None
        self.at: datetime | None = None
        self.trouble: str | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        return self._task is not None

    async def run(self, desk: Desk, actor: Actor) -> None:
        """Check it anew; who comes while somebody else's check is under way waits for that one."""
        if self._task is None:
            self._task = asyncio.create_task(self._check(desk, actor))
        await asyncio.wait({self._task}, timeout=_PATIENCE_S)

    async def _check(self, desk: Desk, actor: Actor) -> None:
        try:
            self.checked = await check_audit(desk, actor)
            self.at, self.trouble = datetime.now(UTC), None
            if self.checked.breaks:
                broken = [each.ordinal for each in self.checked.breaks]
                _log.error("audit_broken", broker=actor.broker, entries=broken[:10])
        except StoreFault:
            self.trouble = "The store could not be reached: the check was not finished."
        except Exception:  # noqa: BLE001 - nobody awaits it: it must say itself what it met
            _log.exception("internal_error", request_id=None)
            self.trouble = "The check failed: the log says why."
        finally:
            self._task = None


_CHECKS: WeakKeyDictionary[BrokerWatch, TrailCheck] = WeakKeyDictionary()


def check_of(watch: BrokerWatch) -> TrailCheck:
    found = _CHECKS.get(watch)
    if found is None:
        found = _CHECKS[watch] = TrailCheck()
    return found


async def _ask(_visit: Visit) -> Html:
    return dialog(
        "Check the whole trail?",
        [
            "Every entry is read, and its hash compared with what it should be. Nothing is changed.",
            "Trading goes on meanwhile. A long trail takes some seconds; the page says how it came out.",
        ],
        confirm="Check the trail",
    )


async def _check(visit: Visit) -> Result:
    check = check_of(visit.watch)
    await check.run(visit.desk, visit.actor)
    if check.running:
        return Result("The trail is being checked; the page will say how it came out.")
    if check.trouble or check.checked is None:
        return Result(check.trouble or "The trail was not checked.")
    if check.checked.breaks:
        return Result(f"The trail is broken at entry {check.checked.breaks[0].ordinal}.")
    return Result(f"The trail is whole: {grouped(str(check.checked.entries))} entries.")


CHECK = Action("check", Role.VIEWER, _ask, _check)
"""Whoever may read the trail may check it: it changes nothing."""
