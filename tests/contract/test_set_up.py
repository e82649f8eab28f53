"""What the desk's forms read and change, on both engines."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from bullion.desk.actions import (
    audit,
    covers,
    duties,
    feeds,
    groups,
    health,
    quotes,
    rates,
    switches,
    symbols,
)
from bullion.desk.actions.audit import AuditSearch
from bullion.desk.bodies import (
    ContractBody,
    DutyBody,
    FeedGuardBody,
    GroupBody,
    RateBody,
    SwitchesBody,
    SymbolBody,
    TermsBody,
)
from bullion.desk.conversion import Changes, convert
from bullion.desk.desk import Desk, View
from bullion.rates.tick import Tick
from bullion.records.page import Page
from bullion.refusals.desk import CONFLICT, INVALID_BODY, NOT_FOUND
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

from .desk_over import ADMIN, OTHER

pytestmark = pytest.mark.anyio

LANDED: dict[str, Any] = {
    "metal": "gold",
    "quoted_weight": "10",
    "minimum": "1",
    "maximum": "1000",
    "step": "1",
    "pricing": {
        "kind": "landed",
        "spot": "SPOT",
        "currency": "RUPEE",
        "premium_usd": "0",
        "interbank": "0",
        "conversion": "0.32148",
        "duty": "gold",
        "margin": "300",
    },
}


def symbol(**fields: Any) -> SymbolBody:
    return convert({**LANDED, **fields}, SymbolBody)


async def test_a_formula_is_tried_before_it_is_kept(desk: Desk) -> None:
    found = await quotes.preview_quote(desk, ADMIN, "NEW", symbol())
    assert found["missing"]
    assert (found["bid"], found["ask"]) == (None, None)
    await rates.put_rate(desk, ADMIN, "SPOT", RateBody(bid="2000", ask="2001"))
    await rates.put_rate(desk, ADMIN, "RUPEE", RateBody(bid="83", ask="83.1"))
    await duties.put_duty(desk, ADMIN, "gold", [DutyBody(from_date="2024-01-01", rupees="7500")])
    found = await quotes.preview_quote(desk, ADMIN, "NEW", symbol())
    assert found["missing"] == []
    assert dict(found["parts"]["buy"])["duty"] == "7500.00"
    kept = await symbols.put_symbol(desk, ADMIN, "NEW", symbol())
    (quoted,), total = await quotes.list_quotes(desk, ADMIN, Page(10, 0))
    assert (quoted["bid"], quoted["ask"], total) == (found["bid"], found["ask"], 1)
    assert await symbols.get_symbol(desk, ADMIN, "NEW") == kept
    with pytest.raises(RefusalError) as refused:
        await symbols.get_symbol(desk, OTHER, "NEW")
    assert refused.value.refusal is NOT_FOUND


async def test_the_timetable_says_when_it_opens(desk: Desk) -> None:
    assert await switches.get_opening(desk, ADMIN) == {"open": True, "changes_at": None}
    day = datetime.now(UTC) + timedelta(days=2)
    week = {day.strftime("%a").lower(): [["09:00", "17:30"]]}
    hours = {"zone": "UTC", "week": week, "holidays": []}
    await switches.patch_switches(desk, ADMIN, Changes(SwitchesBody, {"trading_hours": hours}))
    found = await switches.get_opening(desk, ADMIN)
    assert found["open"] is False
    assert found["changes_at"].startswith(day.strftime("%Y-%m-%dT09:00:00"))
    assert (await switches.get_opening(desk, OTHER))["open"] is True


async def test_of_two_that_saw_the_same_one_changes_it(desk: Desk) -> None:
    """Both read before either writes: the second must not undo what the first did."""
    saw = await groups.get_group(desk, ADMIN, "retail")

    def judge(before: View | None) -> None:
        if before != saw:
            raise RefusalError(CONFLICT, "It was changed meanwhile.")

    body = GroupBody(trading=False)
    done = await asyncio.gather(
        *(groups.put_group(desk, ADMIN, "retail", body, only_if=judge) for _ in range(3)),
        return_exceptions=True,
    )
    refused = [each for each in done if isinstance(each, RefusalError)]
    assert [each.refusal for each in refused] == [CONFLICT, CONFLICT]
    assert (await groups.get_group(desk, ADMIN, "retail"))["trading"] is False
    found = await audit.find_audit(desk, ADMIN, AuditSearch(), 10)
    assert [each["action"] for each in found.entries] == ["put_group"]


@pytest.fixture
def slow_reads(engine_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others have time to write between what a change reads and what it writes, where they could."""

    def slow(name: str) -> None:
        read = getattr(Records, name)

        async def slowly(*arguments: Any) -> Any:
            found = await read(*arguments)
            await asyncio.sleep(0.1)
            return found

        monkeypatch.setattr(Records, name, slowly)

    if engine_name == "postgres":  # SQLite has one writer, and a transaction never waits for anything else.
        slow("contract")
        slow("feed_guards")


@pytest.mark.usefixtures("slow_reads")
async def test_of_two_that_change_a_contract_at_once_neither_is_undone(desk: Desk) -> None:
    body = ContractBody(metal="gold", instrument="GOLD", lot="100", price_weight="10")
    saw = await covers.put_contract(desk, ADMIN, "GOLDM", body)

    def judge(before: View | None) -> None:
        if before != saw:
            raise RefusalError(CONFLICT, "It was changed meanwhile.")

    lots = [msgspec.structs.replace(body, lot=str(lot)) for lot in (200, 300, 400)]
    done = await asyncio.gather(
        *(covers.put_contract(desk, ADMIN, "GOLDM", each, only_if=judge) for each in lots),
        return_exceptions=True,
    )
    refused = [each for each in done if isinstance(each, RefusalError)]
    assert [each.refusal for each in refused] == [CONFLICT, CONFLICT]


@pytest.mark.usefixtures("slow_reads")
async def test_of_two_that_change_a_guard_at_once_neither_is_undone(desk: Desk) -> None:
    fields = {"spike_bps": 120, "width_bps": 77, "old_s": 7}
    await asyncio.gather(
        *(
            feeds.patch_feed_guard(desk, ADMIN, "GOLD", Changes(FeedGuardBody, {name: value}))
            for name, value in fields.items()
        )
    )
    kept = (await desk.store.read("guards", lambda records: records.feed_guards()))["GOLD"]
    assert {name: getattr(kept, name) for name in fields} == fields


@pytest.mark.parametrize("symbol", ["", "no such", "a\x00", "a\n", "x" * 33])
async def test_terms_are_for_what_can_be_a_symbol(desk: Desk, symbol: str) -> None:
    """Also from where no body was read: a form, or a program."""
    before = await groups.get_group(desk, ADMIN, "retail")
    with pytest.raises(RefusalError) as refused:
        await groups.put_group(desk, ADMIN, "retail", GroupBody(terms={symbol: TermsBody(buy_premium="1")}))
    assert refused.value.refusal is INVALID_BODY
    assert [each.loc for each in refused.value.errors] == [("body", "terms", symbol)]
    assert await groups.get_group(desk, ADMIN, "retail") == before


async def test_the_desk_sees_that_a_rate_is_from_before_the_clock_was_set_back(desk: Desk) -> None:
    direct = symbol(pricing={"kind": "direct", "instrument": "BAR"}, trading=True, rate_age_s_max=30)
    await symbols.put_symbol(desk, ADMIN, "NEW", direct)

    async def set_ahead(records: Records) -> None:
        at_us = await records.now_us() + 3600 * 1_000_000
        await records.put_tick("main", Tick("BAR", 1_000_000, 2_000_000, at_us, at_us, at_us + 1))

    await desk.store.write("tick", set_ahead)
    (light,) = [each for each in await health.get_health(desk, ADMIN) if each["name"] == "BAR"]
    assert light["state"] == "bad"
    assert light["clients"] == "Orders in NEW are refused with stale_rate."
    put = await rates.put_rate(desk, ADMIN, "BAR", RateBody(bid="1", ask="2"))
    assert (put["taken"], put["age_s"], put["pinned_until"]) == (True, 0, None)
    (light,) = [each for each in await health.get_health(desk, ADMIN) if each["name"] == "BAR"]
    assert light["state"] == "ok"
