"""A day of a hedge book, replayed: orders, closes, deletions, and covers that are filled, in part or not.

Reports of fills come twice and late. After every step the invariants are checked. `TEST_SCALE`
multiplies the number of days, for a campaign.
"""

from collections import Counter
from datetime import date
from itertools import count
from random import Random

import pytest

from bullion.hedge.book.events import (
    BookEvent,
    ClientDeal,
    CoverEnds,
    CoverFill,
    CoverSent,
    CurrencyDeal,
    OrderWaits,
    WaitEnds,
    close_of,
    deletion_of,
)
from bullion.hedge.book.invariants import fill_problems, limit_problems, plan_problems, profit_problems
from bullion.hedge.book.limit import confirmable
from bullion.hedge.book.planner import PlannedCover, Snapshot, plan_covers
from bullion.hedge.book.position import Position, fold_position, position_after
from bullion.hedge.book.profit import Mark, ProfitBook, Quote, fold_profit, profit_after
from bullion.hedge.book.rules import Rule, RuleKind, rule_problems
from bullion.metals.fine_weight import NG_PER_G
from tests.support.scale import SCALE

from .samples import AUTO

ORDERS = 1_500
LIMIT_MG = 2_000_000
CODES = ("GOLD", "GOLDM", "XAU")
RULES = (Rule("net", RuleKind.OVER, 500_000, CODES, mode="auto"),)
CONTRACTS = {code: AUTO[code] for code in CODES}


class Day:
    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)  # noqa: S311 - a test's own chance
        self.numbers = count(1)
        self.position = Position()
        self.profit = ProfitBook()
        self.events: list[BookEvent] = []
        self.seen: dict[tuple[str, str], CoverFill] = {}
        self.waiting: dict[str, ClientDeal] = {}
        self.deals: dict[str, ClientDeal] = {}
        self.late: list[CoverFill] = []
        self.told: Counter[str] = Counter()
        self.price_e6 = 125_000 * 10**6
        self.dollar_e6 = 88 * 10**6

    @property
    def mark(self) -> Mark:
        bid, ask = self.price_e6 - 30 * 10**6, self.price_e6 + 30 * 10**6
        dollar = Quote(self.dollar_e6 - 10_000, self.dollar_e6 + 10_000)
        return Mark(Quote(bid, ask), 10 * NG_PER_G, 9_950, dollar=dollar)

    def happens(self, event: BookEvent) -> None:
        self.events.append(event)
        if isinstance(event, CoverFill):
            if event.key in self.seen:
                assert self.seen[event.key] == event
                self.told["fill again"] += 1
                return
            self.seen[event.key] = event
        self.position = position_after(self.position, event)
        self.profit = profit_after(self.profit, event)
        shown = self.profit.profit(self.mark).total
        assert profit_problems(self.profit, self.mark, shown, self.position.residual_mg) == []
        if isinstance(event, CoverEnds):
            held_e8, cover_mg = self.position.held_e8, self.position.cover_mg
            assert fill_problems(self.seen.values(), CONTRACTS, held_e8, cover_mg) == []

    def order(self) -> None:
        change_mg = self.chance.choice((-1, -1, 1)) * self.chance.choice(
            (1_000, 20_000, 99_900, 999_000, 4_500_000)
        )
        reference = -change_mg * self.price_e6 * 100 // (9_950 * 10**6)
        placed = ClientDeal(
            f"o{next(self.numbers)}", change_mg, reference + self.chance.randrange(50_000), reference, 0, 0
        )
        self.waiting[placed.order_id] = placed
        self.happens(OrderWaits(placed.order_id, change_mg))
        self.confirm_waiting()
        self.told["waited" if placed.order_id in self.waiting else "at once"] += 1

    def confirm(self, group: tuple[ClientDeal, ...]) -> None:
        before_mg = self.position.residual_mg
        for each in group:
            self.happens(WaitEnds(each.order_id))
            self.happens(each)
            self.deals[each.order_id] = each
        assert limit_problems(before_mg, self.position.residual_mg, LIMIT_MG) == []

    def confirm_waiting(self) -> None:
        waiting = list(self.position.waiting)
        for group in self.confirmable():
            self.confirm(tuple(self.waiting.pop(waiting[place]) for place in group))

    def confirmable(self) -> list[tuple[int, ...]]:
        changes_mg = list(self.position.waiting.values())
        return confirmable(self.position.residual_mg, LIMIT_MG, changes_mg)

    def end_a_deal(self) -> None:
        if not self.deals:
            return
        ended = self.deals.pop(self.chance.choice(list(self.deals)))
        if self.chance.random() < 0.3:
            self.happens(deletion_of(ended, 0))
        else:
            reference = ended.change_mg * self.price_e6 * 100 // (9_950 * 10**6)
            self.happens(close_of(ended, self.chance.randrange(-10_000, 10_000), reference, 0, 0))

    def drop_a_waiting_order(self) -> None:
        if self.waiting:
            order_id = self.chance.choice(list(self.waiting))
            del self.waiting[order_id]
            self.happens(WaitEnds(order_id))

    def plan(self) -> None:
        today = date(2026, 11, 17)
        planned = plan_covers(Snapshot(self.position, RULES, CONTRACTS, today, 0))
        assert plan_problems(self.position, planned) == []
        for cover in planned:
            self.happens(CoverSent(f"c{next(self.numbers)}", cover.contract, cover.quantity_e8))

    def answer(self, *, kindly: bool = False) -> None:
        """The venue's final answer to one cover under way."""
        if not self.position.working:
            return
        cover = self.chance.choice(list(self.position.working.values()))
        kind = "filled" if kindly else self.chance.choice(("filled", "filled", "partly", "refused"))
        self.told[kind] += 1
        steps = abs(cover.left_e8) // cover.contract.step_e8
        filled = {"filled": steps, "partly": self.chance.randrange(steps), "refused": 0}[kind]
        sign = 1 if cover.left_e8 > 0 else -1
        fills = []
        while filled:
            part = self.chance.randint(1, filled)
            filled -= part
            fills.append(
                self.fill(
                    PlannedCover(cover.contract, sign * part * cover.contract.step_e8, "", ""), cover.cover_id
                )
            )
        self.chance.shuffle(fills)
        for fill in fills:
            self.happens(fill)
            if self.chance.random() < 0.2:
                self.late.append(fill)
        self.happens(CoverEnds(cover.cover_id))

    def fill(self, part: PlannedCover, cover_id: str) -> CoverFill:
        ounce = part.contract.currency == "USD"
        price_e6 = 4_800 * 10**6 if ounce else self.price_e6
        return CoverFill(
            f"x{next(self.numbers)}",
            cover_id,
            part.contract,
            part.quantity_e8,
            price_e6 + self.chance.randrange(-5, 6) * part.contract.tick_e6,
            price_e6,
            self.chance.randrange(5_000),
            self.dollar_e6,
            0,
        )

    def move_prices(self) -> None:
        self.price_e6 += self.chance.randrange(-50, 51) * 10**6
        self.dollar_e6 += self.chance.randrange(-500, 501)

    def buy_dollars(self) -> None:
        cents = -self.profit.usd_open_cents
        if cents:
            self.happens(CurrencyDeal("fx", cents, -cents * self.dollar_e6 // 10**6, 100, 0))

    def repeat_a_report(self) -> None:
        if self.late:
            self.happens(self.late.pop(self.chance.randrange(len(self.late))))

    def step(self) -> None:
        self.order()
        for chance, action in (
            (0.3, self.end_a_deal),
            (0.02, self.drop_a_waiting_order),
            (0.6, self.answer),
            (0.2, self.repeat_a_report),
            (0.5, self.move_prices),
            (0.02, self.buy_dollars),
        ):
            if self.chance.random() < chance:
                action()
        self.confirm_waiting()
        self.plan()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SCALE))
def test_a_day_of_random_orders(seed: int) -> None:
    assert rule_problems(RULES, CONTRACTS, "gold", LIMIT_MG) == ()
    day = Day(seed)
    for _ in range(ORDERS):
        day.step()
    assert (
        min(day.told[kind] for kind in ("at once", "waited", "filled", "partly", "refused", "fill again"))
        > 20
    )

    # The venue fills everything now: nothing waits any longer, and only what is below the rule is left.
    for _ in range(100):
        day.answer(kindly=True)
        day.confirm_waiting()
        day.plan()
    assert not day.position.waiting
    assert not day.position.working
    assert abs(day.position.residual_mg) < RULES[0].threshold
    day.buy_dollars()
    assert day.profit.usd_open_cents == day.profit.dollars.basis_paise == 0
    assert fold_position(day.events) == day.position
    assert fold_profit(day.events) == day.profit
