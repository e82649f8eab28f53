"""The money of a hedge book in the store: every deal, close, deletion, cover and currency deal moves it.

Any sequence of them: `tests/model/test_book_money.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import count
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest

from bullion.booking.book_keeping import BookRisk
from bullion.books.hedge_books import hedge_book_differences
from bullion.desk.actions.hedge_book import get_book
from bullion.faults import StoreConflict
from bullion.hedge.book.invariants import profit_problems
from bullion.hedge.book.marks import BookMark
from bullion.hedge.book.money import BookMoney
from bullion.hedge.book.profit import Mark, Quote
from bullion.hedge.contract import Contract
from bullion.hedge.cover import BookCover
from bullion.hedge.venue import Confirmed, Fill, PartiallyFilled
from bullion.metals.fine_weight import NG_PER_G, NG_PER_OUNCE
from bullion.metals.metal import Metal
from bullion.orders.order import Order
from bullion.orders.status import Event
from bullion.rates.tick import Tick
from bullion.records.book_money import CurrencyRecord, DayMark
from bullion.records.hedge_book import CoverDeal, StoredContract
from bullion.store import book_keeping, schema
from bullion.store.book_keeping import StoredBookKeeping, Surroundings, day_marks
from bullion.store.book_profit import BrokenBook, day_mark, money_steps, uncounted_books
from bullion.store.engine import Engine, Transaction
from bullion.store.postgres import PostgresEngine
from bullion.store.records import Records, RecordStore
from bullion.store.sqlite import SqliteEngine

from .dealings import PRICED, Dealings
from .desk_over import ADMIN, desk_over
from .test_house_book import GRAM, House

pytestmark = pytest.mark.anyio

INDIA = ZoneInfo("Asia/Kolkata")
MARK = Mark(Quote(6_990_000_000, 7_010_000_000), 10 * NG_PER_G, 9_990, dollar=Quote(87_900_000, 88_100_000))
BOOK = ("main", "gold")
GOLDTEN = Contract(
    "GOLDTEN", "desk", "", "", "gold", "GOLD", 10 * NG_PER_G, 9_990, 10**8, 10 * NG_PER_G, "INR", 10**6
)
XAU = Contract(
    "XAU", "desk", "", "", "gold", "XAUUSD", NG_PER_OUNCE, 10_000, 10**6, NG_PER_OUNCE, "USD", 10**4
)
LANDED = (
    '{"quoted_weight":"10.0000","components":[{"name":"currency","value":"88.5"},'
    '{"name":"metal","value":"69000"},{"name":"duty","value":"700"},{"name":"margin","value":"100"}]}'
)
DIRECT = '{"quoted_weight":"10.0000","components":[{"name":"ask","value":"69500"}]}'
_numbers = count(1)


class _Undone(Exception):
    """Takes a transaction back, and tells what was found in it."""

    def __init__(self, found: list[str]) -> None:
        super().__init__()
        self.found = found


@dataclass
class Money:
    """A house whose cash is also counted here, from what was dealt and from nothing else."""

    house: House
    paise: int = 0
    cents: int = 0

    @property
    def dealings(self) -> Dealings:
        return self.house.dealings

    async def deal(self, side: str, grams: int, anatomy: str = DIRECT) -> Order:
        """An order that the book confirms."""
        entry = self.dealings.entry(self.dealings.books[0], side, grams * 10_000)
        entry.verdict = msgspec.structs.replace(PRICED["GOLD"], in_book=True, price_anatomy=anatomy)
        (plan,), _ = await self.dealings.record_locked(entry)
        order = await self.house.book.judge(plan.to_hedge[0])
        if order.status == "open":
            self.receive(order)
        return order

    def receive(self, order: Order) -> None:
        self.paise += order.total_paise if order.asked.trade_type == "buy" else -order.total_paise

    async def close(self, order: Order, price_paise: int) -> None:
        await self.dealings.change(order, Event.CLOSE)
        done = await self.dealings.change(order, Event.COMPLETE, close_price_paise=price_paise)
        assert done.realized_pnl_paise is not None
        sign = 1 if order.asked.trade_type == "buy" else -1
        self.paise -= sign * order.total_paise + done.realized_pnl_paise

    async def delete(self, order: Order) -> None:
        await self.dealings.change(order, Event.DELETE)
        self.paise -= order.total_paise if order.asked.trade_type == "buy" else -order.total_paise

    async def cover(
        self,
        contract: Contract,
        side: str,
        quantity_e8: int,
        price_e6: int,
        fee_minor: int = 0,
        dollar_e6: int = 0,
        execution_id: str = "",
        told_us: int = 0,
    ) -> None:
        """By telephone, or as a venue tells it with its own id and time."""
        number, now_us = next(_numbers), self.dealings.now_us
        name = execution_id or f"T{number}"
        made = BookCover(
            f"C{number}", "main", Metal.GOLD, contract, side, quantity_e8, contract.fine_mg(quantity_e8),
            "by_hand", "dealer", f"k{number}", "suggested", now_us,
        )  # fmt: skip
        dealt = CoverDeal(Fill(name, quantity_e8, price_e6, told_us or now_us), fee_minor, dollar_e6)

        async def body(records: Records) -> None:
            await records.lock_book_position("main", Metal.GOLD)
            await records.insert_book_cover(made)
            await records.add_cover_deal(made, dealt, now_us)
            await records.finish_cover(made, "filled", dealt.fill.execution_id, None, now_us)

        await RecordStore(self.dealings.engine).write("cover", body, catalogue=False)
        value = contract.value_minor(quantity_e8, price_e6)
        paid = (-value if side == "buy" else value) - fee_minor
        if contract.currency == "USD":
            self.cents += paid
        else:
            self.paise += paid

    async def exchange(self, cents: int, rate_e6: int, fee_paise: int = 0) -> None:
        """Dollars bought, or sold."""
        number = next(_numbers)
        cash = -(cents * rate_e6 // 10**6)
        deal = CurrencyRecord(
            f"D{number}",
            "main",
            Metal.GOLD,
            cents,
            rate_e6,
            cash,
            fee_paise,
            "ref",
            "dealer",
            f"k{number}",
            self.dealings.now_us,
        )

        async def body(records: Records) -> None:
            position = await records.lock_book_position("main", Metal.GOLD)
            assert position is not None
            await records.add_currency_deal(deal, position.version)

        await RecordStore(self.dealings.engine).write("currency", body, catalogue=False)
        self.cents += cents
        self.paise += cash - fee_paise

    async def money(self) -> BookMoney:
        return await RecordStore(self.dealings.engine).read(
            "money", lambda records: records.book_money("main", Metal.GOLD)
        )

    async def reconciled(self) -> BookMoney:
        """H5, against the cash that was counted here."""
        money, position = await self.money(), await self.house.position()
        assert money.ordinal == position.version
        assert (money.book.cash_paise, money.book.cash_cents) == (self.paise, self.cents)
        residual = MARK.metal_paise(position.residual_mg)
        expected = self.paise + residual + MARK.dollars_paise(self.cents)
        assert money.book.profit(MARK).total == expected
        assert profit_problems(money.book, MARK, expected, position.residual_mg) == []
        return money

    def keeping(
        self, holder: str = "this node", batch: int = 500, ticks: Sequence[Tick] = ()
    ) -> StoredBookKeeping:
        around = Surroundings(INDIA, ticks, ())
        return StoredBookKeeping(
            self.dealings.engine, holder, lambda: self.dealings.now_us, lambda _: around, batch
        )

    async def marks(self) -> list[DayMark]:
        rows = await self.dealings.rows("SELECT * FROM cover_marks ORDER BY day")
        return [day_mark(row) for row in rows]


@pytest.fixture
async def money(engine: Engine) -> Money:
    dealings = await Dealings.open(engine, 2)
    dealings.now_us = await RecordStore(engine).read("now", lambda records: records.now_us())
    await House(dealings).open(limit_mg=10**9)
    return Money(House(dealings))


async def test_deals_close_and_are_deleted(money: Money) -> None:
    first = await money.deal("buy", 10)
    book = (await money.reconciled()).book
    assert (book.premium_paise, book.metal.basis_paise) == (70_000_000 - 6_950_000, -6_950_000)
    second = await money.deal("sell", 4, LANDED)
    book = (await money.reconciled()).book
    assert book.duty_paise == -28_000
    await money.delete(second)
    assert (await money.reconciled()).book.duty_paise == 0
    await money.close(first, 7_100_000)
    assert (await money.reconciled()).book.metal.amount == 0


async def test_a_deal_without_a_market_price_counts_at_its_own_and_is_told(money: Money) -> None:
    await money.deal("buy", 10, '{"quoted_weight":"10.0000"}')
    found = await money.reconciled()
    assert (found.estimated, found.book.premium_paise, found.book.duty_paise) == (1, 0, 0)
    await money.deal("buy", 10)
    assert (await money.reconciled()).estimated == 1


async def test_covers_and_currency_deals(money: Money) -> None:
    await money.deal("buy", 100)
    await money.cover(GOLDTEN, "buy", 3 * 10**8, 69_600_000_000, fee_minor=5_000)
    await money.reconciled()
    await money.cover(XAU, "buy", 2 * 10**8, 2_400_000_000, fee_minor=250, dollar_e6=88_000_000)
    found = (await money.reconciled()).book
    assert found.usd_open_cents == -480_250
    await money.exchange(480_250, 88_400_000, fee_paise=1_000)
    found = (await money.reconciled()).book
    assert (found.usd_open_cents, found.currency_realised_paise) == (0, -480_250 * 2 // 5)
    await money.cover(XAU, "sell", 10**8, 2_410_000_000, dollar_e6=88_000_000)
    assert (await money.reconciled()).book.usd_open_cents == 241_000


async def test_two_venues_may_give_the_same_id_to_executions_of_the_same_weight(money: Money) -> None:
    """The venue of the first one tells the time of its trade, which may be long before we hear of it."""
    mcx = msgspec.structs.replace(GOLDTEN, code="GOLDMCX", venue="mcx")
    prices = {"mcx": 69_600_000_000, "desk": 70_000_000_000}
    began_us = money.dealings.now_us
    for minute, contract in enumerate((mcx, GOLDTEN), 1):
        money.dealings.now_us = began_us + minute * 60_000_000
        told_us = began_us if contract is mcx else money.dealings.now_us
        price_e6 = prices[contract.venue]
        await money.cover(contract, "buy", 10**8, price_e6, execution_id="X17", told_us=told_us)
        await money.reconciled()
    assert money.paise == -6_960_000 - 7_000_000


async def test_deals_from_before_the_opening_bring_no_money_until_they_end(engine: Engine) -> None:
    dealings = await Dealings.open(engine, 2)
    old, older = [await dealings.answer(await dealings.place(dealings.books[0])) for _ in range(2)]
    money = Money(House(dealings))
    await money.house.open(limit_mg=10**9)
    assert (await money.reconciled()).book == BookMoney().book
    await money.close(old, 7_200_000)
    assert (await money.reconciled()).book.metal.amount == GRAM
    await money.delete(older)
    await money.reconciled()


async def test_under_each_the_cover_counts_with_the_deal(engine: Engine) -> None:
    money = Money(House(await Dealings.open(engine, 2)))
    dealings = money.dealings
    await money.house.open(policy="each")

    async def placed(side: str) -> Order:
        entry = dealings.entry(dealings.books[0], side, 100_000)
        entry.verdict = msgspec.structs.replace(PRICED["GOLD"], price_anatomy=DIRECT)
        (plan,), _ = await dealings.record_locked(entry)
        (order,) = plan.orders
        return order

    # A price of 69,550 for 10 g, in the measure of the order: 10 g.
    order = await dealings.answer(
        await placed("buy"), Confirmed("E1", (Fill("F1", 10 * 10**8, 69_550_000_000, 5),))
    )
    money.receive(order)
    money.paise -= 6_955_000
    book = (await money.reconciled()).book
    assert (book.premium_paise, book.slippage_paise) == (70_000_000 - 6_950_000, -5_000)
    assert (book.realised_paise, book.metal.basis_paise) == (0, 0)

    # Without a price of the venue, the cover counts at the reference.
    order = await dealings.answer(await placed("sell"))
    money.receive(order)
    money.paise += 6_950_000
    assert (await money.reconciled()).book.slippage_paise == -5_000

    # The rest that was taken into the book stays open, at the reference.
    fill = Fill("F2", 8 * 10**8, 69_400_000_000, 5)
    rest = PartiallyFilled("P1", (fill,), 2 * GRAM, "below the step", below_step=True)
    order = await dealings.requests.answer(await dealings.to_hedge(await placed("buy")), rest)
    money.receive(order)
    money.paise -= 5_552_000
    book = (await money.reconciled()).book
    assert (book.metal.amount, book.metal.basis_paise) == (-2 * GRAM, -1_390_000)
    assert book.slippage_paise == -5_000 + 8_000


async def test_a_fill_that_was_not_expected_does_not_change_what_was_counted(engine: Engine) -> None:
    money = Money(House(await Dealings.open(engine, 1)))
    dealings = money.dealings
    await money.house.open(policy="each")
    order = await dealings.place(dealings.books[0], "buy", 100_000)
    to_hedge = await dealings.to_hedge(order)
    await dealings.requests.answer(to_hedge, Confirmed("E1", (Fill("F1", 10 * 10**8, 70_000_000_000, 5),)))
    counted = (await money.money()).book
    await dealings.requests.answer(to_hedge, Confirmed("E2", (Fill("F9", 10 * 10**8, 80_000_000_000, 9),)))
    assert len(await dealings.rows("SELECT * FROM hedge_fills")) == 2
    assert (await money.money()).book == counted


async def test_nodes_count_in_batches_and_two_at_once_are_harmless(money: Money) -> None:
    for grams in range(1, 8):
        await money.deal("buy" if grams % 2 else "sell", grams)
        await money.exchange(grams * 100, 88_000_000)
    whole = await money.reconciled()
    one, other = money.keeping(batch=3), money.keeping("that node", batch=2)
    steps = 0
    while (await one.step()).more:
        steps += 1
        await other.step()  # It does not have the lease.
    assert steps >= 2
    (mark,) = await money.marks()
    assert mark.money == whole
    assert await money.reconciled() == whole
    money.dealings.now_us += 20_000_000
    await money.deal("buy", 3)
    # Both read before either writes: the second write finds another entry than it began with.
    books = [await each._engine.read("books", partial(each._read, broken={})) for each in (one, other)]
    for keeper, found in zip((one, other), books, strict=True):
        await keeper._keep(found[0])
    (mark,) = await money.marks()
    assert mark.money == await money.reconciled()


async def test_a_read_after_the_last_mark_counts_only_what_came_after(money: Money) -> None:
    await money.deal("buy", 5)
    await money.keeping().step()
    # What is counted is not read again: without its order, a count from the start would fail.
    await money.dealings.rows("UPDATE book_entries SET name = 'gone' WHERE ordinal = 2")
    await money.deal("sell", 2)
    await money.reconciled()
    start = BookMoney()
    with pytest.raises(BrokenBook, match="gone"):
        await money.dealings.engine.read(
            "money", lambda open_: money_steps(open_, ("main", "gold"), start, 100)
        )


SPOILT = (
    "UPDATE cover_marks SET state = 'no JSON'",
    "UPDATE covers SET terms = '{}'",
    "UPDATE book_entries SET name = 'gone' WHERE kind = 'deal'",
)


@pytest.mark.parametrize("spoil", SPOILT)
async def test_a_book_that_cannot_be_counted_is_told_and_the_others_are_kept(
    money: Money, spoil: str
) -> None:
    engine = money.dealings.engine
    await money.house.open(Metal.SILVER)
    keeping = money.keeping()
    if "cover_marks" in spoil:
        await keeping.step()
        await money.dealings.rows("DELETE FROM cover_marks WHERE metal = 'silver'")
    await money.deal("buy", 5)
    await money.cover(GOLDTEN, "buy", 10**8, 69_600_000_000)
    await money.dealings.rows(spoil)
    for _ in range(2):
        kept = await keeping.step()
        assert kept.broken == (BOOK,)
    rows = await money.dealings.rows("SELECT * FROM cover_marks WHERE metal = 'silver'")
    assert [day_mark(row).money for row in rows] == [BookMoney(1)]
    # The desk is told why; it does not get an error.
    shown = await get_book(desk_over(engine), ADMIN)
    assert [each["profit"]["total"] is None for each in shown] == [True, False]
    assert "Run 'bullion books verify'." in shown[0]["unmarked_because"]
    (told,) = await uncounted_books(engine)
    assert told.startswith("The money of the gold book of main cannot be counted")
    assert any("money of the hedge book" in each for each in await money.house.differences())


@pytest.mark.parametrize("error", [RuntimeError("a bug"), StoreConflict("again")], ids=["bug", "fault"])
async def test_an_error_of_one_book_does_not_stop_the_others(
    money: Money, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    await money.house.open(Metal.SILVER)

    async def fail_for_gold(transaction: Transaction, name: tuple[str, str], *about: Any) -> Any:
        if name == BOOK:
            raise error
        return await money_steps(transaction, name, *about)

    keeping = money.keeping()
    with monkeypatch.context() as failing:
        failing.setattr(book_keeping, "money_steps", fail_for_gold)
        if isinstance(error, StoreConflict):
            with pytest.raises(StoreConflict):  # The duty says so, and tries again.
                await keeping.step()
        else:
            assert (await keeping.step()).broken == (BOOK,)
    assert [row["metal"] for row in await money.dealings.rows("SELECT * FROM cover_marks")] == ["silver"]
    assert (await keeping.step()).broken == ()
    assert len(await money.marks()) == 2


async def test_a_day_ends_with_the_state_and_the_mark_that_it_had(money: Money) -> None:
    now_us = money.dealings.now_us
    await money.deal("buy", 5)
    await money.keeping().step()
    (first,) = await money.marks()
    money.dealings.now_us = now_us + 86_400_000_000
    await money.deal("buy", 7)
    await money.keeping().step()
    marks = await money.marks()
    assert [each.day for each in marks] == [first.day, date.fromordinal(first.day.toordinal() + 1)]
    assert marks[0] == first
    assert marks[1].money == await money.reconciled()


async def test_the_mark_of_the_day_and_the_value_at_risk_come_from_rates_of_the_node(
    money: Money,
) -> None:
    stored = StoredContract(GOLDTEN)
    store = RecordStore(money.dealings.engine)
    await store.write("contract", lambda records: records.put_contract("main", stored))
    await money.dealings.rows("UPDATE book_positions SET volatility_e4 = 12000")
    await money.deal("buy", 10)
    now_us = money.dealings.now_us
    tick = Tick("GOLD", 69_900_000_000, 70_000_000_000, now_us, now_us)
    kept = await money.keeping(ticks=(tick,)).step()
    assert kept.risks == (BookRisk("main", "gold", 7_000_000 * 12 * 233 // 100_000),)
    (day,) = await money.marks()
    assert day.mark is not None
    assert (day.mark.instrument, day.mark.at_us) == ("GOLD", now_us)
    # The same day without a rate keeps the mark, and says that there is no value at risk.
    money.dealings.now_us += 61_000_000
    assert (await money.keeping(ticks=(tick,)).step()).risks == (BookRisk("main", "gold", None),)
    assert await money.marks() == [day]


def test_days_do_not_go_back_and_keep_their_own_mark() -> None:
    day, before = date(2026, 11, 17), date(2026, 11, 16)
    at_us = 1_794_873_600_000_000  # 2026-11-17 00:00 UTC: 05:30 of that day in India.
    mark = BookMark(MARK, "GOLD", at_us, None)
    other = msgspec.structs.replace(mark, at_us=1)
    last = DayMark(before, BookMoney(1), other)
    steps = [(at_us - 20_000_000_000, BookMoney(2)), (at_us, BookMoney(3))]
    found = day_marks(last, steps, INDIA, day, mark, more=False)
    assert found == [DayMark(before, BookMoney(2), other), DayMark(day, BookMoney(3), mark)]
    assert day_marks(last, steps[:1], INDIA, day, mark, more=True) == [DayMark(before, BookMoney(2), other)]
    assert day_marks(DayMark(day, BookMoney(3), mark), [], INDIA, before, other, more=False) == [
        DayMark(day, BookMoney(3), other)
    ]
    unmarked = BookMark(None, "", 0, None, "none")
    assert day_marks(last, [], INDIA, before, unmarked, more=False) == [last]


LIES = (
    ("UPDATE cover_marks SET state = replace(state, '\"premium_paise\":', '\"premium_paise\":1')",
     "premium_paise"),
    ("UPDATE orders SET total_paise = total_paise + 1", "premium_paise"),
    ("UPDATE cover_fills SET price_e6 = price_e6 + 1000000", "slippage_paise"),
    ("UPDATE currency_deals SET cash_paise = cash_paise - 1", "cash_paise"),
    ("DELETE FROM currency_deals", "last entry"),
    ("UPDATE covers SET state = 'partly'", "cover C"),
    ("UPDATE covers SET state = 'dropped'", "cover C"),
    ("UPDATE held_contracts SET held_e8 = held_e8 + 1", "quantity held of contract GOLDTEN 200000001"),
    ("DELETE FROM held_contracts", "quantity held of contract GOLDTEN 0"),
    ("UPDATE cover_fills SET execution_id = 'other'", "is not in the store"),
    ("UPDATE hedge_requests SET venue = 'simulated'", "venue's word"),
)  # fmt: skip


async def test_what_is_kept_of_the_money_can_be_verified_and_every_lie_is_found(money: Money) -> None:
    await money.deal("buy", 30)
    await money.cover(GOLDTEN, "buy", 2 * 10**8, 69_600_000_000)
    await money.exchange(100, 88_000_000)
    await money.keeping().step()
    assert await money.house.differences() == []
    engine = money.dealings.engine
    assert isinstance(engine, SqliteEngine | PostgresEngine)
    for lie, told in LIES:
        engine._queries[f"test {lie}"] = lie

        async def lying(transaction: Transaction, lie: str = lie) -> None:
            await transaction.run(f"test {lie}")
            found = await hedge_book_differences(transaction)
            raise _Undone([" ".join(map(str, (check.what, *rest))) for check, _, *rest in found])

        with pytest.raises(_Undone) as undone:
            await engine.write("lie", lying)
        assert any(told in each for each in undone.value.found), (lie, undone.value.found)
    assert await money.house.differences() == []


async def test_a_store_from_before_knows_what_is_held_after_its_step(money: Money, engine_name: str) -> None:
    await money.cover(GOLDTEN, "buy", 5 * 10**8, 69_600_000_000)
    await money.cover(GOLDTEN, "sell", 2 * 10**8, 69_600_000_000)
    await money.cover(XAU, "sell", 10**8, 2_410_000_000, dollar_e6=88_000_000)
    held = await money.dealings.rows("SELECT * FROM held_contracts ORDER BY contract")
    assert [(each["contract"], each["held_e8"]) for each in held] == [
        ("GOLDTEN", 3 * 10**8),
        ("XAU", -(10**8)),
    ]
    await money.dealings.rows("DROP TABLE held_contracts")
    (step,) = (each for each in schema.steps(engine_name) if each.name == "held_contracts")
    for statement in step.sql.split(";")[:-1]:
        await money.dealings.rows(statement)
    assert await money.dealings.rows("SELECT * FROM held_contracts ORDER BY contract") == held
    assert await money.house.differences() == []
