"""`bullion doctor`: checks what this deployment needs, and says what to do about problems."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import hiredis

from bullion.budgets.memory import MemoryLimiter
from bullion.budgets.redis import RedisLimiter
from bullion.budgets.redis_link import LinkDown, RedisLink
from bullion.faults import StoreFault
from bullion.hedge.venues import FIX, abilities_of
from bullion.market_file import read_market_file
from bullion.settings import Settings, WrongSetting
from bullion.store.book_profit import uncounted_books
from bullion.store.hedge_requests import waiting_elsewhere
from bullion.store.schema import SchemaMismatch
from bullion.store.standby import Reports, StandbyUnfit
from bullion.store.unreadable_rows import unreadable_rows
from bullion.unreadable import Unreadable
from bullion.wiring.line_check import check_line
from bullion.wiring.store import open_store

_REDIS_S = 2.0
_ROWS_LISTED_MAX = 50


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    ok: bool
    message: str


async def examine(settings: Settings) -> list[Finding]:
    """The settings were read before, so they are valid."""
    findings = [_settings(settings)]
    findings += await _store(settings)
    findings.append(await _redis(settings))
    findings.append(_hedge(settings))
    findings += await _market(settings)
    if settings.desk_token is None:
        findings.append(
            Finding(
                "desk",
                ok=True,
                message="BULLION_DESK_TOKEN is not set; create tokens with 'bullion desk tokens create'.",
            )
        )
    return findings


def _settings(settings: Settings) -> Finding:
    production = "on" if settings.production else "off"
    message = (
        f"broker {settings.broker}, workers: {settings.workers}, deploy switch for production {production}."
    )
    return Finding("settings", ok=True, message=message)


async def _store(settings: Settings) -> list[Finding]:
    kind = "SQLite" if settings.sqlite else "PostgreSQL"
    try:
        async with open_store(settings, migrate=False) as store:
            brokers = await store.records.read("doctor", lambda records: records.brokers())
            unreadable = await unreadable_rows(store.engine)
            uncounted = await uncounted_books(store.engine)
            elsewhere = await waiting_elsewhere(store.engine, settings.hedge)
            reports = await _reports(store.reports)
    except (WrongSetting, SchemaMismatch) as error:
        return [Finding("store", ok=False, message=str(error))]
    except StoreFault as fault:
        advice = (
            "Is the server running, and are the address, user and password of BULLION_DATABASE_URL right?"
        )
        return [Finding("store", ok=False, message=f"{kind} does not answer ({fault}). {advice}")]
    found = Finding("store", ok=True, message=f"{kind}, schema up to date, brokers: {len(brokers)}.")
    waiting = [_waiting(settings, *each) for each in elsewhere.items()]
    return [found, *_rows(unreadable), *map(_book, uncounted), *reports, *waiting]


async def _reports(reports: Reports) -> list[Finding]:
    """The standby for reports, if the settings name one."""
    if reports.standby is None:
        return []
    began_s = monotonic()
    try:
        await reports.standby.read("doctor", lambda records: records.now_us())
    except StandbyUnfit as unfit:
        return [
            Finding(
                "reports",
                ok=False,
                message=f"the standby cannot be used ({unfit}). Check BULLION_REPORTS_URL and the server's "
                "replication. Reports are read from the primary meanwhile.",
            )
        ]
    took_ms = int((monotonic() - began_s) * 1000)
    message = f"the standby has all that the primary has; it answered within {took_ms} ms."
    return [Finding("reports", ok=True, message=message)]


def _rows(unreadable: list[Unreadable]) -> list[Finding]:
    messages = [f"{entry} {entry.effect} {entry.remedy}" for entry in unreadable[:_ROWS_LISTED_MAX]]
    if len(unreadable) > _ROWS_LISTED_MAX:
        messages.append(f"{len(unreadable) - _ROWS_LISTED_MAX} more rows cannot be read.")
    return [Finding("rows", ok=False, message=message) for message in messages]


def _book(message: str) -> Finding:
    return Finding("book", ok=False, message=f"{message} Run 'bullion books verify'.")


def _waiting(settings: Settings, venue: str, orders: int) -> Finding:
    message = (
        f"orders: {orders} wait for the venue {venue}, which BULLION_HEDGE={settings.hedge} does not ask. "
        f"Set BULLION_HEDGE={venue} again until 'bullion desk hedge queue' is empty."
    )
    return Finding("hedge", ok=False, message=message)


def _hedge(settings: Settings) -> Finding:
    venue = abilities_of(settings.hedge)
    if venue.by_hand:
        message = "the desk hedges orders itself; see what waits with 'bullion desk hedge queue'."
    elif venue.covers:
        message = f"orders are hedged at the venue {venue.name}."
    else:
        message = "a simulated venue: nothing is really hedged."
    return Finding("hedge", ok=True, message=message)


async def _market(settings: Settings) -> list[Finding]:
    """The market file, and each of its lines if orders are sent or rates taken over them."""
    if settings.market is None:
        return []
    try:
        market = read_market_file(Path(settings.market), os.environ)
    except WrongSetting as error:
        return [Finding("market", ok=False, message=str(error))]
    sources = 0 if market.feed is None else len(market.feed.sources)
    message = f"{settings.market}: FIX lines: {len(market.lines)}, sources of rates: {sources}."
    findings = [Finding("market", ok=True, message=message)]
    if settings.hedge == FIX:
        findings += [await _checked_line(settings, each.name) for each in market.lines]
    if settings.feed == "live":
        findings += [await _checked_line(settings, name) for name in market.source_lines]
    return findings


async def _checked_line(settings: Settings, name: str) -> Finding:
    shown: list[str] = []
    try:
        agrees = await check_line(settings, name, shown.append)
    except (StoreFault, SchemaMismatch) as error:
        return Finding("line", ok=False, message=f"{name} cannot be checked without the store ({error}).")
    return Finding("line", ok=agrees is not False, message=" ".join(shown))


async def _redis(settings: Settings) -> Finding:
    if settings.redis_url is None:
        return Finding(
            "redis", ok=True, message="not set; rate limits are counted in memory, for one node only."
        )
    link = RedisLink(settings.redis_url, answer_s=_REDIS_S)
    limiter = RedisLimiter(link, MemoryLimiter())
    running = asyncio.create_task(link.run())
    try:
        async with asyncio.timeout(_REDIS_S):
            while True:
                await link.tried.wait()
                try:
                    # A call, because a Redis that cannot count may answer everything else.
                    await limiter.probe()
                except LinkDown:
                    await asyncio.sleep(0.05)
                else:
                    return Finding("redis", ok=True, message="answers.")
    except (TimeoutError, hiredis.ReplyError, ValueError) as error:
        why = str(error) or link.why_down
        return Finding(
            "redis",
            ok=False,
            message=f"cannot be used ({why}). Check BULLION_REDIS_URL. Without it reads are not "
            "counted, and orders are refused.",
        )
    finally:
        running.cancel()
