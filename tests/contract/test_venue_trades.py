"""What was dealt at a venue on a day, for the comparison with its statement."""

from datetime import datetime

import msgspec
import pytest

from bullion.desk.actions import statement
from bullion.desk.bodies import StatementBody
from bullion.hedge.venue import Confirmed, Fill
from bullion.refusals.refusal import RefusalError
from bullion.store.engine import Engine
from bullion.store.records import RecordStore

from .dealings import DAY_US, Dealings, trades_by_day
from .desk_over import ADMIN, desk_over
from .test_book_profit import GOLDTEN, INDIA, Money
from .test_house_book import House

pytestmark = pytest.mark.anyio


async def test_the_trades_of_a_venue_are_complete_however_many_others_there_are(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    money = Money(House(await Dealings.open(engine, 1)))
    dealings = money.dealings
    await money.house.open(policy="each")
    for number in range(6):
        order = await dealings.place(dealings.books[0], "buy", 100_000)
        fill = Fill(f"F{number}", 10**9, 70_000_000_000, number)
        await dealings.requests.answer(await dealings.to_hedge(order), Confirmed(f"E{number}", (fill,)))
        await money.cover(GOLDTEN, "buy", 10**8, 69_600_000_000)
    # Four of them at another venue, before the others, and one of those on a line.
    await dealings.rows("UPDATE hedge_fills SET venue = 'fix' WHERE at_us < 4")
    await dealings.rows(
        "INSERT INTO fix_lines (name, holder, until_us, address, token, connection_no, outgoing, incoming) "
        "VALUES ('mcx', '', 0, '', '', 0, 1, 1)"
    )
    await dealings.rows(
        "INSERT INTO line_orders (line, order_id, client_order_id, number, broker, terms, sends, state, "
        "sent_at_us) SELECT 'mcx', order_id, 'c', 1, broker, $1, 1, 'sent', 0 FROM hedge_fills "
        "WHERE execution_id = 'F3'",
        msgspec.json.encode({"contract": GOLDTEN}).decode(),
    )
    await dealings.rows(
        "UPDATE cover_fills SET venue = 'mcx', execution_id = 'C', at_us = 1 "
        "WHERE execution_id = (SELECT min(execution_id) FROM cover_fills)"
    )
    store = RecordStore(engine)

    async def trades(venue: str, most: int = 2) -> list[tuple[str, str]]:
        found = await store.read(
            "trades", lambda records: records.venue_trades("main", venue, 0, 2**60, most)
        )
        return sorted((each.execution_id, each.symbol) for each in found)

    assert await trades("simulated") == [("F4", "XAUUSD"), ("F5", "XAUUSD")]
    assert await trades("mcx") == [("C", "GOLDTEN"), ("F3", "GOLDTEN")]
    assert len(await trades("fix", 9)) == 3
    assert len(await trades("desk", 9)) == 5

    monkeypatch.setattr(statement, "TRADES_MAX", 4)
    desk = desk_over(engine)
    (row,) = await dealings.rows("SELECT max(at_us) AS at_us FROM cover_fills")
    day = datetime.fromtimestamp(row["at_us"] // 10**6, INDIA).date().isoformat()
    with pytest.raises(RefusalError) as refused:
        await statement.compare_day(desk, ADMIN, StatementBody(csv="", venue="desk", day=day))
    assert refused.value.message == "There are more than 4 trades of desk on that day."


async def test_an_execution_that_counts_for_an_order_and_for_a_cover_is_told_twice(engine: Engine) -> None:
    money = Money(House(await Dealings.open(engine, 1)))
    dealings = money.dealings
    await money.house.open(policy="each")
    order = await dealings.place(dealings.books[0], "buy", 100_000)
    answer = Confirmed("E1", (Fill("F1", 10**9, 70_000_000_000, dealings.now_us),))
    await dealings.requests.answer(await dealings.to_hedge(order), answer)
    contract = msgspec.structs.replace(GOLDTEN, venue="simulated")
    await money.cover(contract, "buy", 10**8, 70_000_000_000, execution_id="F1")
    found = await RecordStore(engine).read(
        "trades", lambda records: records.venue_trades("main", "simulated", 0, 2**60, 9)
    )
    assert sorted((each.execution_id, each.quantity_e8) for each in found) == [("F1", 10**8), ("F1", 10**9)]


async def test_an_execution_id_may_come_again_on_another_day(engine: Engine) -> None:
    dealings = await Dealings.open(engine, 1)
    for day in (1, 2):
        order = await dealings.place(dealings.books[0], "buy", 100_000)
        answer = Confirmed(f"E{day}", (Fill("F1", 10**9, 70_000_000_000, day * DAY_US),))
        for _ in range(2):  # The venue repeats itself.
            await dealings.requests.answer(await dealings.to_hedge(order), answer)
    found = await dealings.rows("SELECT ordinal, quantity_e8 FROM hedge_fills ORDER BY ordinal")
    assert found == [{"ordinal": each, "quantity_e8": 10**9} for each in (1, 2)]
    assert await trades_by_day(RecordStore(engine), "simulated", 2) == [["F1"], ["F1"]]
