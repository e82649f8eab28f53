"""FIX lines to venues: their state, and connecting, disconnecting and resetting them."""

from bullion.desk.audit_wording.hedging import tell_line
from bullion.desk.bodies import LineBody
from bullion.desk.desk import ChangeResult, Desk, View
from bullion.desk.registry import action
from bullion.hedge.fix.line_control import FRESH_US
from bullion.orders.instant import instant_text
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError
from bullion.store.line_states import ReportedLine
from bullion.store.records import Records

CONNECTED, DISCONNECTED, STALE = "connected", "disconnected", "stale"
_US_PER_S = 1_000_000


@action(
    "GET /hedge/lines",
    command="hedge lines",
    columns="name venue state since held_by wanted open_orders unknown_orders message",
)
async def list_lines(desk: Desk, actor: Actor) -> list[View]:
    """List the FIX lines of the broker: the state of each, since when, its numbers and its open orders."""

    async def work(records: Records) -> list[View]:
        now_us = await records.now_us()
        return [view(each, now_us) for each in await records.lines(actor.broker)]

    return await desk.read(actor, "lines", work)


@action(
    "POST /hedge/lines/{name}/connect",
    Role.ADMIN,
    audit_text="connected a line",
    tell=tell_line("connected"),
    command="hedge line-connect",
)
async def connect_line(desk: Desk, actor: Actor, name: str, body: LineBody) -> View:
    """Let a line be up in its hours again, and try at once.

    \b
    Example:
      bullion desk hedge line-connect spot --reason "the venue is back"
    """
    return await _wish(desk, actor, name, body, connected=True)


@action(
    "POST /hedge/lines/{name}/disconnect",
    Role.ADMIN,
    audit_text="disconnected a line",
    tell=tell_line("disconnected"),
    command="hedge line-disconnect",
)
async def disconnect_line(desk: Desk, actor: Actor, name: str, body: LineBody) -> View:
    """Log out, and stay away until somebody connects the line. Meanwhile live orders are refused.

    \b
    Example:
      bullion desk hedge line-disconnect spot --reason "the venue asked for it"
    """
    return await _wish(desk, actor, name, body, connected=False)


@action(
    "POST /hedge/lines/{name}/reset",
    Role.ADMIN,
    audit_text="reset the numbers of a line",
    tell=tell_line("logs on with new numbers"),
    command="hedge line-reset",
)
async def reset_line(desk: Desk, actor: Actor, name: str, body: LineBody) -> View:
    """Log on once with new message numbers, for a line that keeps numbers or that the venue refused.

    Agree on it with the venue first. As after every logon, the venue is asked for orders without an outcome.

    \b
    Example:
      bullion desk hedge line-reset spot --reason "agreed with the venue's support"
    """

    async def work(records: Records) -> ChangeResult:
        line = await _find(records, actor.broker, name)
        if not (line.report.keeps_numbers or line.report.refused):
            raise RefusalError(
                CONFLICT, f"Line {name} begins its numbers anew at every logon, and was not refused."
            )
        now_us = await records.now_us()
        await records.wish_line_reset(name, max(now_us, line.wish.reset_at_us + 1))
        return await _result(records, actor.broker, line, body.reason)

    return await desk.change(actor, name, work, catalogue=False)


async def _wish(desk: Desk, actor: Actor, name: str, body: LineBody, *, connected: bool) -> View:
    async def work(records: Records) -> ChangeResult:
        line = await _find(records, actor.broker, name)
        at_us = max(await records.now_us(), line.wish.at_us + 1)
        await records.wish_line_connected(name, at_us, connected=connected)
        return await _result(records, actor.broker, line, body.reason)

    return await desk.change(actor, name, work, catalogue=False)


async def _result(records: Records, broker: str, before: ReportedLine, reason: str) -> ChangeResult:
    after = await _find(records, broker, before.name)
    return ChangeResult(
        {"wanted": _wanted(before)},
        {"wanted": _wanted(after), "reason": reason},
        answer=view(after, await records.now_us()),
    )


async def _find(records: Records, broker: str, name: str) -> ReportedLine:
    for line in await records.lines(broker):
        if line.name == name:
            return line
    raise RefusalError(NOT_FOUND, f"There is no line {name}, or no node has held it yet.")


def _wanted(line: ReportedLine) -> str:
    return CONNECTED if line.wish.connected else DISCONNECTED


def view(line: ReportedLine, now_us: int) -> View:
    report = line.report
    fresh = now_us - report.at_us <= FRESH_US
    changes_at = _time(report.changes_us)
    state, message = report.state.replace(" ", "_"), report.message
    if not fresh:
        state = STALE
        message = f"No node has held it for {(now_us - report.at_us) // _US_PER_S} s."
    elif state == "resting" and not line.wish.connected:
        state = DISCONNECTED
    return {
        "name": line.name,
        "venue": report.venue,
        "profile": report.profile,
        "state": state,
        "since": instant_text(report.since_us if fresh else report.at_us),
        "held_by": report.held_by if fresh else None,
        "wanted": _wanted(line),
        "incoming": report.incoming,
        "outgoing": report.outgoing,
        "last_in_at": _time(report.in_us),
        "last_out_at": _time(report.out_us),
        "open_orders": line.orders.number,
        "unknown_orders": line.orders.unknown,
        "opens_at": None if report.is_open else changes_at,
        "closes_at": changes_at if report.is_open else None,
        "message": message,
        "keeps_numbers": report.keeps_numbers,
        "may_reset": report.keeps_numbers or report.refused,
        "expected": line.wish.connected and report.is_open,
    }


def _time(at_us: int) -> str | None:
    return instant_text(at_us) if at_us else None
