"""`bullion doctor`: is everything here that this deployment needs, and if not, what is to be done?"""

import asyncio
from dataclasses import dataclass

import hiredis

from bullion.budgets.redis_link import LinkDown, RedisLink, packed
from bullion.faults import StoreFault
from bullion.hedge.venue import BY_HAND
from bullion.settings import Settings, WrongSetting
from bullion.store.schema import SchemaMismatch
from bullion.store.unreadable_rows import unreadable_rows
from bullion.unreadable import Unreadable
from bullion.wiring.store import open_store

_REDIS_S = 2.0
_ROWS_TOLD = 50
"""So many unreadable rows are told one by one."""


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    well: bool
    words: str


async def examine(settings: Settings) -> list[Finding]:
    """The settings have been read by now, so those are in order."""
    findings = [Finding("settings", well=True, words=_settings_words(settings))]
    findings += await _store(settings)
    findings.append(await _redis(settings))
    findings.append(_hedge(settings))
    if settings.desk_token is None:
        findings.append(
            Finding(
                "desk",
                well=True,
                words="BULLION_DESK_TOKEN is not set; make tokens with 'bullion desk tokens create'.",
            )
        )
    return findings


def _settings_words(settings: Settings) -> str:
    production = "on" if settings.production else "off"
    return (
        f"broker {settings.broker}, workers: {settings.workers}, deploy switch for production {production}."
    )


async def _store(settings: Settings) -> list[Finding]:
    kind = "SQLite" if settings.sqlite else "PostgreSQL"
    try:
        async with open_store(settings, migrate=False) as store:
            brokers = await store.records.read("doctor", lambda records: records.brokers())
            unreadable = await unreadable_rows(store.engine)
    except (WrongSetting, SchemaMismatch) as error:
        return [Finding("store", well=False, words=str(error))]
    except StoreFault as fault:
        advice = "Is the server running, and do the address, user and password of BULLION_DATABASE_URL fit?"
        return [Finding("store", well=False, words=f"{kind} does not answer ({fault}). {advice}")]
    found = Finding("store", well=True, words=f"{kind}, schema up to date, brokers: {len(brokers)}.")
    return [found, *_rows(unreadable)]


def _rows(unreadable: list[Unreadable]) -> list[Finding]:
    told = [f"{entry} {entry.effect} {entry.remedy}" for entry in unreadable[:_ROWS_TOLD]]
    if len(unreadable) > _ROWS_TOLD:
        told.append(f"{len(unreadable) - _ROWS_TOLD} more rows cannot be read.")
    return [Finding("rows", well=False, words=words) for words in told]


def _hedge(settings: Settings) -> Finding:
    if settings.hedge == BY_HAND:
        words = "the desk covers orders itself; see what waits with 'bullion desk hedge queue'."
    else:
        words = "a simulated venue: nothing is covered in earnest."
    return Finding("hedge", well=True, words=words)


async def _redis(settings: Settings) -> Finding:
    if settings.redis_url is None:
        return Finding("redis", well=True, words="not set; budgets are kept in memory, for one node only.")
    link = RedisLink(settings.redis_url, answer_s=_REDIS_S)
    keeping = asyncio.create_task(link.keep())
    try:
        async with asyncio.timeout(_REDIS_S):
            while True:
                try:
                    # Not only whether it answers: a replica does, and takes nothing down.
                    await link.send(packed("SET", "bullion:doctor", "1", "PX", "1000"))
                except LinkDown:
                    await asyncio.sleep(0.05)
                else:
                    return Finding("redis", well=True, words="answers.")
    except (TimeoutError, hiredis.ReplyError) as error:
        why = str(error) or link.why_down
        return Finding(
            "redis",
            well=False,
            words=f"cannot be used ({why}). Check BULLION_REDIS_URL. Without it reads go on "
            "uncounted, and orders are refused.",
        )
    finally:
        keeping.cancel()
