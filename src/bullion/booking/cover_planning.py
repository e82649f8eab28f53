"""Plans the covers of hedge books by their rules, in the background.

Of all nodes one plans for a broker, under a lease in the store. It reads everything that a plan is made from
in the transaction that records the plan: see `bullion.hedge.book.planner`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec
import structlog

from bullion.faults import StoreFault
from bullion.hedge.book.planner import PlanBasis, PlannedCover, Snapshot, plan_covers
from bullion.hedge.book.position import Position
from bullion.hedge.book.profit import Mark
from bullion.hedge.book.rules import Rule
from bullion.hedge.contract import AUTO, Contract
from bullion.last_success import note_start, note_success
from bullion.rates.duty import duty_day

PLANNER = "planner"
"""Who made a cover that no dealer asked for."""
REST_US = 30_000_000
"""How long a contract is not planned with after the venue refused a cover in it, or a dealer dropped one."""
_EVERY_S = 1.0
_AFTER_ORDERS_S = 0.1
"""Long enough to plan once for orders that arrive together."""

_log = structlog.get_logger("hedge")

BookName = tuple[str, str]
"""Broker and metal."""


class Suggestion(msgspec.Struct, frozen=True):
    """A cover of an earlier plan that a dealer may send."""

    id: str
    contract: Contract
    quantity_e8: int
    """Above 0: a buy."""
    rule: str
    made_by: str
    """`planner`, or the dealer who asked for the plan."""


class BookState(msgspec.Struct, frozen=True):
    """What the store knows of a book at one moment."""

    broker: str
    metal: str
    position: Position
    rules: tuple[Rule, ...]
    contracts: Mapping[str, Contract]
    """The active ones of this metal, by code."""
    suggestions: tuple[Suggestion, ...]
    resting: frozenset[str]
    """Codes of contracts that rest after a refusal."""
    volatility_e6: int
    now_us: int
    version: int = 0
    """The ordinal of the book's last entry."""
    open_since_us: Mapping[str, int] = {}
    """By the name of a rule of age: since when there has been a lot to cover."""
    taken: tuple[str, ...] = ()
    """Suggestions that count as under way, because a dealer works on them."""

    @property
    def asked(self) -> Mapping[str, str]:
        """The rules that dealers asked for, with the dealers, while suggestions of these rules are left."""
        return {each.rule: each.made_by for each in self.suggestions if each.made_by != PLANNER}

    def basis(self, planner: str = "", until_us: int = 0) -> PlanBasis:
        """What a plan is made from now, by this node during its lease, or for a dealer."""
        working_e8 = {cover_id: each.left_e8 for cover_id, each in self.position.working.items()}
        waiting_mg = self.position.waiting_mg
        return PlanBasis(self.version, self.now_us, waiting_mg, working_e8, planner, until_us, self.taken)


class Outlook(Protocol):
    """What a node knows of the market, and the store does not."""

    def plans(self, broker: str) -> bool:
        """Whether this node may plan for the broker: over FIX, only the node that holds its line."""

    def available(self, broker: str, contract: Contract) -> bool:
        """Whether covers in this contract can be dealt now."""

    def sendable(self, broker: str, contract: Contract) -> bool:
        """Whether the venue deals this contract. Otherwise a dealer does, by telephone."""

    def mark(self, broker: str, metal: str, contracts: Sequence[Contract]) -> Mark | None:
        """What the metal costs now; None without a fresh rate."""

    def session_ends_us(self, broker: str) -> int | None:
        """When the venue's session ends; None if it has no hours, or is closed."""


class TelephoneOutlook:
    """For a plan that a dealer asks for: the dealer sees what can be dealt."""

    def plans(self, broker: str) -> bool:  # noqa: ARG002 - of the port
        return True

    def available(self, broker: str, contract: Contract) -> bool:  # noqa: ARG002 - of the port
        return True

    def sendable(self, broker: str, contract: Contract) -> bool:  # noqa: ARG002 - of the port
        return False

    def mark(self, broker: str, metal: str, contracts: Sequence[Contract]) -> Mark | None:  # noqa: ARG002
        return None

    def session_ends_us(self, broker: str) -> int | None:  # noqa: ARG002 - of the port
        return None


class NewCover(msgspec.Struct, frozen=True):
    cover: PlannedCover
    made_by: str
    sent: bool
    """Whether it is sent without a dealer."""


class Revision(msgspec.Struct, frozen=True):
    """What a new plan changes."""

    dropped: tuple[str, ...] = ()
    """The ids of suggestions that no longer hold. They are not kept: nobody acted on them."""
    kept: tuple[Suggestion, ...] = ()
    added: tuple[NewCover, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.dropped or self.added)


def revise(state: BookState, outlook: Outlook, asked: Mapping[str, str]) -> Revision:
    """Plan anew. A suggestion that the new plan has too is kept.

    `asked` are rules that dealers asked for, with the dealers.
    """
    left, kept, added = list(state.suggestions), [], []
    for cover in plan_covers(_snapshot(state, outlook), asked):
        sent = cover.mode == AUTO and outlook.sendable(state.broker, cover.contract)
        same = None if sent else next((each for each in left if _is_same(each, cover)), None)
        if same is None:
            added.append(NewCover(cover, asked.get(cover.rule, PLANNER), sent))
        else:
            left.remove(same)
            kept.append(same)
    return Revision(tuple(each.id for each in left), tuple(kept), tuple(added))


def _snapshot(state: BookState, outlook: Outlook) -> Snapshot:
    contracts = list(state.contracts.values())
    unavailable = {each.code for each in contracts if not outlook.available(state.broker, each)}
    by_hand = {each.contract.code for each in state.suggestions if each.made_by != PLANNER}
    return Snapshot(
        position=state.position,
        rules=state.rules,
        contracts=state.contracts,
        today=duty_day(state.now_us),
        now_us=state.now_us,
        # A dealer who asks for a plan can deal it in another way.
        unavailable=(state.resting | unavailable) - by_hand,
        mark=outlook.mark(state.broker, state.metal, contracts),
        volatility_e6=state.volatility_e6,
        open_since_us=state.open_since_us,
        session_ends_us=outlook.session_ends_us(state.broker),
    )


def _is_same(suggestion: Suggestion, cover: PlannedCover) -> bool:
    return (suggestion.contract, suggestion.quantity_e8, suggestion.rule) == (
        cover.contract,
        cover.quantity_e8,
        cover.rule,
    )


class CoverPlans(Protocol):
    """Every method may raise StoreFault."""

    async def books(self) -> Sequence[BookName]:
        """Those with rules, or suggestions of rules that are gone. Not those that another node plans for."""

    async def plan(self, name: BookName, outlook: Outlook) -> Revision:
        """Plan for a book, and record what changes. Nothing does if another node plans for this broker."""


class CoverPlanning:
    def __init__(self, plans: CoverPlans, outlook: Outlook) -> None:
        self._plans = plans
        self._outlook = outlook
        self._judged = asyncio.Event()

    def note_orders(self) -> None:
        """Plan soon: this node confirmed orders, or held them back."""
        self._judged.set()

    async def run(self) -> None:
        """Plan in the background, until cancelled."""
        note_start("cover_planning")
        while True:
            try:
                await self.plan()
                note_success("cover_planning")
            except StoreFault as fault:
                _log.warning("cover_planning_failed", fault=repr(fault))
            except Exception:  # noqa: BLE001 - one book must not end the node
                _log.exception("cover_planning_failed")
            await self._pause()

    async def plan(self) -> None:
        """Plan for every book once. The first error is raised after the last book."""
        failed: Exception | None = None
        for name in await self._plans.books():
            if self._outlook.plans(name[0]):
                try:
                    await self._plan(name)
                except Exception as error:  # noqa: BLE001 - the books of other brokers are planned for all the same
                    failed = failed or error
        if failed is not None:
            raise failed

    async def _plan(self, name: BookName) -> None:
        revision = await self._plans.plan(name, self._outlook)
        for new in revision.added:
            _log.info(
                "cover_planned",
                broker=name[0],
                contract=new.cover.contract.code,
                quantity_e8=new.cover.quantity_e8,
                rule=new.cover.rule,
                sent=new.sent,
            )

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(_EVERY_S):
                await self._judged.wait()
                await asyncio.sleep(_AFTER_ORDERS_S)
        except TimeoutError:
            pass  # It is time for the next turn.
        self._judged.clear()
