"""Logs on to a venue, asks, logs off, and tells what it saw, for `bullion fix check` and `bullion doctor`."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from bullion.desk.actions.lines import view
from bullion.hedge.fix.codec import Message, Pair
from bullion.hedge.fix.connection import Chunk
from bullion.hedge.fix.lease import LineHolder, LineLease
from bullion.hedge.fix.line import FixLine
from bullion.hedge.fix.mass_questions import MassQuestion
from bullion.hedge.fix.message_log import MessageLog
from bullion.hedge.fix.order_messages import new_client_order_id
from bullion.hedge.fix.profile import Line, StatusQuestion, UnknownForm
from bullion.hedge.fix.session_effects import LOGGED_ON
from bullion.market_file import MarketSettings, read_market_file
from bullion.settings import Settings, WrongSetting
from bullion.store.fix_lines import StoredLines
from bullion.store.records import Records

from .source_check import check_source
from .store import Store, open_store

_LOGON_S = 10.0
_ANSWER_S = 10.0
_LOGOUT_S = 5.0
_LOOK_S = 0.05
Print = Callable[[str], None]


def _now_us() -> int:
    return time.time_ns() // 1000


class _Seen:
    """What the venue sent. Owns the line."""

    def __init__(self) -> None:
        self.logon: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.messages: asyncio.Queue[Message] = asyncio.Queue()

    def logged_on(self, connection_no: int, logon: Message) -> None:  # noqa: ARG002 - there is one
        if not self.logon.done():
            self.logon.set_result(logon)

    def received(self, connection_no: int, chunk: Chunk) -> None:  # noqa: ARG002 - as above
        for message in chunk.messages:
            self.messages.put_nowait(message)

    def lost(self, connection_no: int, reason: str) -> None:
        """The line's own status tells why."""


async def check_line(settings: Settings, name: str | None, show: Print) -> bool | None:
    """Whether the venue did what its profile says; None if a node holds the line, which is not touched then.

    `name`: that of a line, or of a source of rates over FIX. Raises WrongSetting and StoreFault.
    """
    found, market = _named(settings, name)
    if found in market.source_lines:
        return await check_source(settings, market, found, show)
    (line,) = (each for each in market.lines if each.name == found)
    async with open_store(settings, migrate=False) as store:
        lines = StoredLines(store.engine)
        state, disconnected = await _known(store, line)
        lease = LineLease(lines, line.name, LineHolder(f"check-{uuid4().hex}", "", ""))
        if await lines.holder(line.name) is None and disconnected:
            show(f"The desk disconnected the line {line.name}: it is not logged on.")
            return None
        if not await lease.renew():
            show(
                f"A node holds the line {line.name}{state}. "
                "To check it, stop the nodes: a second logon would cut it."
            )
            return None
        seen = _Seen()
        log = MessageLog(Path(market.messages.folder), line.name, _now_us, market.messages.days)
        password = os.environ.get(line.password_env, "")
        fix = FixLine(line, seen, _now_us, password=password, holder=lease, kept=lines, log=log)
        renewing = asyncio.create_task(lease.run())
        running = asyncio.create_task(fix.run())
        try:
            return await _ask(line, fix, seen, show)
        finally:
            fix.stop()
            await asyncio.wait([running], timeout=_LOGOUT_S)
            running.cancel()
            renewing.cancel()
            await asyncio.gather(running, renewing, return_exceptions=True)
            log.flush()
            show(f"Messages: {market.messages.folder}/{line.name}-<date>.log")


async def _known(store: Store, line: Line) -> tuple[str, bool]:
    """What the node that holds the line says about it, and whether the desk disconnected it."""

    async def read(records: Records) -> tuple[str, bool]:
        now_us = await records.now_us()
        for each in await records.lines(line.broker):
            if each.name == line.name:
                shown = view(each, now_us)
                return f": {shown['state']} since {shown['since']}", not each.wish.connected
        return "", False

    return await store.records.read("lines", read)


def _named(settings: Settings, name: str | None) -> tuple[str, MarketSettings]:
    if settings.market is None:
        raise WrongSetting("BULLION_MARKET is not set: it must name the market file, which has the lines.")
    market = read_market_file(Path(settings.market), os.environ)
    known = [*(each.name for each in market.lines), *market.source_lines]
    found = [each for each in known if name in (None, each)]
    if len(found) != 1:
        raise WrongSetting(f"Name one of the lines of {settings.market}: {', '.join(known) or 'none'}.")
    return found[0], market


async def _ask(line: Line, fix: FixLine, seen: _Seen, show: Print) -> bool:
    profile = line.profile
    ends = f"{line.sender} to {line.target} at {line.host}:{line.port}"
    show(f"Line {line.name}: {ends}, profile {profile.name}.")
    if not fix.is_open():
        show("The timetable says that it is closed now.")
        return False
    logon = await _logon(fix, seen, show)
    if logon is None:
        return False
    show(f"Logged on: heartbeat {logon.get(108)} s, numbers {'reset' if logon.get(141) == 'Y' else 'kept'}.")
    unknown_id = new_client_order_id(str(uuid4()), profile.order_id) or "CHECK1"
    question = f"check-{uuid4().hex[:8]}"
    pairs: list[Pair] = [(35, "H"), (11, unknown_id), (790, question), (54, "1"), (55, "CHECK")]
    if profile.status_question is StatusQuestion.MASS:
        pairs = MassQuestion(question, 0).pairs
    fix.recovered(fix.connection_no)
    await fix.send(pairs)
    try:
        async with asyncio.timeout(_ANSWER_S):
            answer = await seen.messages.get()
    except TimeoutError:
        show(f"No answer within {_ANSWER_S:g} seconds to a question about an order that it does not know.")
        return False
    return _judge(line, answer, question, show) and fix.state in LOGGED_ON


async def _logon(fix: FixLine, seen: _Seen, show: Print) -> Message | None:
    """Wait for the venue's Logon, unless nobody can be reached there."""
    try:
        async with asyncio.timeout(_LOGON_S):
            while not fix.unreachable:
                done, _ = await asyncio.wait([seen.logon], timeout=_LOOK_S)
                if done:
                    return seen.logon.result()
    except TimeoutError:
        status = fix.status()
        show(f"No logon within {_LOGON_S:g} seconds: {status.alarm or status.reason or status.state.value}.")
    else:
        show(f"The venue cannot be reached: {fix.status().reason}.")
    return None


def _judge(line: Line, answer: Message, question: str, show: Print) -> bool:
    """Compare the answer to a question about an unknown order with what the profile says."""
    if line.profile.status_question is StatusQuestion.MASS:
        complete = answer.type == "8" and answer.get(584) == question and answer.get(911) is not None
        show(f"A question for all orders is answered by 35={answer.type}, 911={answer.get(911)}.")
        if not complete:
            show("Without 584 and 911 nobody knows whether an answer is complete: ask the venue.")
        return complete
    form = {"8": UnknownForm.REPORT, "3": UnknownForm.REJECT}.get(answer.type)
    reason = answer.get(58) or "no text"
    fields = f"35={answer.type}, 39={answer.get(39)}, 103={answer.get(103)}"
    show(f"An unknown order is answered by {fields}: {reason}")
    agrees = True
    if form is None:
        show("This is neither a report nor a reject, and no profile can describe it: ask the venue.")
        agrees = False
    elif form is not line.profile.unknown:
        show(f'The profile has unknown = "{line.profile.unknown.value}": change it to "{form.value}".')
        agrees = False
    echoes = answer.get(790) == question
    if form is UnknownForm.REPORT and echoes is not line.profile.echoes_question:
        show(f"The profile has echoes_question = {_toml(not echoes)}: change it to {_toml(echoes)}.")
        agrees = False
    return agrees


def _toml(value: bool) -> str:
    return "true" if value else "false"
