"""What the port `bullion.hedge.venue` demands of an adapter, as tests for whoever writes another one.

Make a subclass whose name begins with `Test`, and a fixture `trial` that gives a `VenueTrial`. See
docs/venues.md; `tests/contract/test_venue.py` does it for the simulated venue.
"""

import asyncio
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol
from uuid import uuid4

import msgspec
import pytest

from bullion.booking.partial_fills import TOLERANCE_E4, child_id
from bullion.hedge.venue import (
    Confirmed,
    Declined,
    Duplicate,
    FinalAnswer,
    HedgeRequest,
    ListedExecution,
    PartiallyFilled,
    Tradeability,
    Unconfirmed,
    UnknownOrder,
    Venue,
    VenueUnreachable,
)
from bullion.metals.fine_weight import FINENESS_E4_USUAL, fine_mg
from bullion.metals.metal import Metal

AT_ONCE = 12
PATIENCE_S = 10.0


class VenueTrial(Protocol):
    """A venue to try an adapter on: a sandbox of it, or a stand-in. What it cannot do, it skips."""

    broker: str
    instrument: str
    """One that can be traded."""
    smallest_e4: int
    """The smallest quantity that can be traded."""

    async def adapter(self) -> Venue:
        """Another adapter at the same venue, as another node has it, or the same node after a restart."""

    async def fill(self) -> None:
        """From now on the venue confirms what it decides."""

    async def refuse(self) -> None: ...

    async def hold(self) -> None:
        """From now on the venue takes orders and leaves them undecided."""

    async def linger(self) -> None:
        """From now on the venue confirms, but takes a while over it."""

    async def fill_partly(self) -> None:
        """From now on the venue fills 60 percent of an order, and cancels the rest."""

    async def report(self) -> None:
        """From now on the venue confirms, but only by a report that comes after the call."""

    async def lag(self) -> None:
        """From now on the venue confirms, but a question learns of an order only after a while."""

    async def close(self) -> None:
        """From now on the instrument is closed by its timetable."""

    async def cut(self) -> None:
        """From now on the venue cannot be reached."""

    async def executions(self, order_id: str) -> AbstractSet[str]:
        """By the venue's own account: the ids of all deals that it made for this order."""


class VenueContract:
    """The sentences of the port."""

    # --- What the venue does not know -----------------------------------------------------------------

    async def test_an_id_that_was_never_sent_is_not_known(self, trial: VenueTrial) -> None:
        venue = await trial.adapter()
        for make in (trial.fill, trial.refuse, trial.hold):
            await make()
            assert await venue.order_status(request(trial)) == UnknownOrder()

    async def test_asking_does_not_make_an_order_known(self, trial: VenueTrial) -> None:
        await trial.fill()
        venue, one = await trial.adapter(), request(trial)
        for _ in range(3):
            assert await venue.order_status(one) == UnknownOrder()
        assert await trial.executions(one.order_id) == set()
        assert isinstance(await venue.submit(one), Confirmed)

    # --- Sending and asking ---------------------------------------------------------------------------

    async def test_what_was_confirmed_is_told_again_as_it_was(self, trial: VenueTrial) -> None:
        await trial.fill()
        venue, one = await trial.adapter(), request(trial)
        word = await venue.submit(one)
        assert isinstance(word, Confirmed)
        assert await venue.order_status(one) == word
        assert await trial.executions(one.order_id) == {word.execution_id}

    async def test_what_was_refused_is_told_again_and_was_never_executed(self, trial: VenueTrial) -> None:
        await trial.refuse()
        venue, one = await trial.adapter(), request(trial)
        word = await venue.submit(one)
        assert isinstance(word, Declined)
        assert word.message.strip()
        assert await venue.order_status(one) == word
        assert await trial.executions(one.order_id) == set()

    async def test_what_is_undecided_is_told_so_until_it_is_decided(self, trial: VenueTrial) -> None:
        venue = await trial.adapter()
        one, other = request(trial), request(trial, "sell")
        await trial.hold()
        for each in (one, other):
            assert isinstance(await venue.submit(each), Unconfirmed)
            assert isinstance(await venue.order_status(each), Unconfirmed)
            assert await trial.executions(each.order_id) == set()
        await trial.fill()
        assert isinstance(await told(venue, one), Confirmed)
        await trial.refuse()
        assert isinstance(await told(venue, other), Declined)

    async def test_orders_do_not_touch_each_other(self, trial: VenueTrial) -> None:
        await trial.fill()
        venue = await trial.adapter()
        some = [
            request(trial, side, quantity_e4)
            for side in ("buy", "sell")
            for quantity_e4 in (trial.smallest_e4, 10_000)
        ]
        words = await asyncio.gather(*map(venue.submit, some))
        ids = {word.execution_id for word in words if isinstance(word, Confirmed)}
        assert len(ids) == len(some)
        assert await venue.order_status(request(trial)) == UnknownOrder()

    # --- An id is executed once at the most -----------------------------------------------------------

    @pytest.mark.parametrize("first", ["fill", "refuse", "hold"])
    @pytest.mark.parametrize("then", ["fill", "refuse", "hold"])
    async def test_the_same_id_again_is_a_duplicate_and_changes_nothing(
        self, trial: VenueTrial, first: str, then: str
    ) -> None:
        venue, one = await trial.adapter(), request(trial)
        await getattr(trial, first)()
        word = await venue.submit(one)
        await getattr(trial, then)()
        for _ in range(2):
            assert await venue.submit(one) == Duplicate()
        if isinstance(word, Confirmed | Declined):
            assert await venue.order_status(one) == word
        assert len(await trial.executions(one.order_id)) <= 1

    async def test_the_same_id_many_times_at_once_is_taken_once(self, trial: VenueTrial) -> None:
        await trial.fill()
        venue, one = await trial.adapter(), request(trial)
        words = await asyncio.gather(*(venue.submit(one) for _ in range(AT_ONCE)))
        await self._taken_once(trial, venue, one, words)

    async def test_the_same_id_from_several_adapters_at_once_is_taken_once(self, trial: VenueTrial) -> None:
        await trial.fill()
        venues, one = [await trial.adapter() for _ in range(3)], request(trial)
        words = await asyncio.gather(*(venues[number % 3].submit(one) for number in range(AT_ONCE)))
        for venue in venues:
            await self._taken_once(trial, venue, one, words)

    async def _taken_once(
        self, trial: VenueTrial, venue: Venue, one: HedgeRequest, words: Sequence[object]
    ) -> None:
        assert list(words).count(Duplicate()) == len(words) - 1
        word = await told(venue, one)
        assert isinstance(word, Confirmed)
        assert [each for each in words if each != Duplicate()] == [word]
        assert await trial.executions(one.order_id) == {word.execution_id}

    async def test_what_is_decided_while_several_ask_is_decided_once(self, trial: VenueTrial) -> None:
        venues, one = [await trial.adapter() for _ in range(3)], request(trial)
        await trial.hold()
        await venues[0].submit(one)
        await trial.fill()
        words = set(await asyncio.gather(*(told(venues[number % 3], one) for number in range(AT_ONCE))))
        (word,) = words
        assert isinstance(word, Confirmed)
        assert await trial.executions(one.order_id) == {word.execution_id}

    @pytest.mark.parametrize("first", ["fill", "refuse", "hold"])
    async def test_after_a_restart_the_venue_knows_what_it_knew(self, trial: VenueTrial, first: str) -> None:
        one = request(trial)
        await getattr(trial, first)()
        word = await (await trial.adapter()).submit(one)
        again = await trial.adapter()
        asked = await again.order_status(one)
        assert type(asked) is type(word)
        assert isinstance(asked, Unconfirmed) or asked == word
        assert await again.submit(one) == Duplicate()
        assert await again.order_status(request(trial)) == UnknownOrder()

    @pytest.mark.parametrize("first", ["fill", "refuse"])
    async def test_a_final_word_never_changes(self, trial: VenueTrial, first: str) -> None:
        venue, one = await trial.adapter(), request(trial)
        await getattr(trial, first)()
        word = await venue.submit(one)
        for make in (trial.refuse, trial.fill, trial.hold, trial.linger):
            await make()
            assert await venue.order_status(one) == word
            assert await venue.submit(one) == Duplicate()
            assert await (await trial.adapter()).order_status(one) == word

    # --- Calls that end in the middle -----------------------------------------------------------------

    async def test_a_submit_that_was_cancelled_may_be_asked_for(self, trial: VenueTrial) -> None:
        """At whichever moment it was: the order is then known, or it is not, and is executed once."""
        await trial.fill()
        venue = await trial.adapter()
        for turns in (0, 1, 2, 5, 20):
            one = request(trial)
            call = asyncio.ensure_future(venue.submit(one))
            for _ in range(turns):
                await asyncio.sleep(0)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            await self._comes_to_a_fill(trial, venue, one)

    async def test_a_submit_that_took_too_long_may_be_asked_for(self, trial: VenueTrial) -> None:
        await trial.linger()
        venue, one = await trial.adapter(), request(trial)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await venue.submit(one)
        await trial.fill()
        await self._comes_to_a_fill(trial, venue, one)

    async def test_an_ask_that_was_cancelled_changes_nothing(self, trial: VenueTrial) -> None:
        venue, one = await trial.adapter(), request(trial)
        await trial.hold()
        await venue.submit(one)
        await trial.fill()
        for turns in (0, 1, 2, 5):
            call = asyncio.ensure_future(venue.order_status(one))
            for _ in range(turns):
                await asyncio.sleep(0)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
        await self._comes_to_a_fill(trial, venue, one)

    async def _comes_to_a_fill(self, trial: VenueTrial, venue: Venue, one: HedgeRequest) -> None:
        """As booking does: ask first, and send only what the venue does not know."""
        word: object = await told(venue, one)
        if word == UnknownOrder():
            word = await venue.submit(one)
            if isinstance(word, Duplicate | Unconfirmed):  # It was still on its way, or took long.
                word = await told(venue, one)
        assert isinstance(word, Confirmed)
        assert await trial.executions(one.order_id) == {word.execution_id}

    # --- Partial fills --------------------------------------------------------------------------------

    async def test_a_partial_fill_is_final_and_told_again_as_it_was(self, trial: VenueTrial) -> None:
        await trial.fill_partly()
        venue, one = await trial.adapter(), request(trial, quantity_e4=1_000_000)
        start = await end_of_list(trial, venue)
        word = await final(venue, one)
        assert isinstance(word, PartiallyFilled)
        assert 0 < word.fine_mg_left < one.fine_mg
        assert word.message.strip()
        assert len({fill.execution_id for fill in word.fills}) == len(word.fills) > 0
        assert all(fill.quantity_e8 > 0 and fill.price_e6 > 0 for fill in word.fills)
        for make in (trial.fill, trial.refuse, trial.hold):
            await make()
            assert await venue.order_status(one) == word
            assert await venue.submit(one) == Duplicate()
        await trial.fill()
        assert await (await trial.adapter()).order_status(one) == word
        (listed,) = await listed_after(trial, venue, start)
        assert (listed.order_id, listed.execution_id) == (one.order_id, word.execution_id)
        filled_e4 = one.quantity_e4 * (one.fine_mg - word.fine_mg_left) // one.fine_mg
        assert abs(listed.quantity_e4 - filled_e4) <= TOLERANCE_E4

    async def test_the_rest_is_an_order_of_its_own(self, trial: VenueTrial) -> None:
        await trial.fill_partly()
        venue, one = await trial.adapter(), request(trial, quantity_e4=1_000_000)
        word = await final(venue, one)
        assert isinstance(word, PartiallyFilled)
        rest = msgspec.structs.replace(
            one, order_id=child_id(one.order_id, 1), quantity_e4=400_000, fine_mg=word.fine_mg_left
        )
        await trial.fill()
        assert await venue.order_status(rest) == UnknownOrder()
        assert isinstance(await final(venue, rest), Confirmed)
        assert await venue.order_status(one) == word

    # --- Outcomes that come unasked, early and late ---------------------------------------------------

    async def test_what_nobody_waits_for_is_reported(self, trial: VenueTrial) -> None:
        await trial.report()
        venue, one = await trial.adapter(), request(trial)
        assert venue.abilities.name
        reports = venue.reports()
        assert isinstance(await venue.submit(one), Unconfirmed)
        async with asyncio.timeout(PATIENCE_S):
            async for report in reports:
                if report.order_id == one.order_id:
                    break
        assert isinstance(report.answer, Confirmed)
        assert await venue.order_status(one) == report.answer
        assert await trial.executions(one.order_id) == {report.answer.execution_id}

    async def test_a_question_that_overtakes_the_order_does_not_double_it(self, trial: VenueTrial) -> None:
        """Unknown is said only when no submission is under way any more: booking would send it again."""
        await trial.lag()
        venue, one = await trial.adapter(), request(trial)
        call = asyncio.ensure_future(venue.submit(one))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await self._comes_to_a_fill(trial, venue, one)
        again = await trial.adapter()
        assert await told(again, one) == await told(venue, one), "a replayed answer proves nothing new"
        assert len(await trial.executions(one.order_id)) == 1

    # --- A venue out of reach -------------------------------------------------------------------------

    async def test_a_venue_out_of_reach_is_told_by_one_exception_and_nothing_else(
        self, trial: VenueTrial
    ) -> None:
        venue, known, lost = await trial.adapter(), request(trial), request(trial)
        await trial.fill()
        word = await venue.submit(known)
        await trial.cut()
        with pytest.raises(VenueUnreachable):
            await venue.submit(lost)
        for one in (known, lost):
            with pytest.raises(VenueUnreachable):
                await venue.order_status(one)
        with pytest.raises(VenueUnreachable):
            await venue.instruments(trial.broker, [trial.instrument])
        with pytest.raises(VenueUnreachable):
            await venue.executions(trial.broker, "", 10)
        await trial.fill()
        assert await venue.order_status(known) == word
        await self._comes_to_a_fill(trial, venue, lost)

    # --- The list of executions -----------------------------------------------------------------------

    async def test_it_lists_its_executions_page_by_page_and_refusals_never(self, trial: VenueTrial) -> None:
        venue = await trial.adapter()
        start = await end_of_list(trial, venue)
        await trial.refuse()
        await venue.submit(request(trial))
        await trial.fill()
        some = [
            request(trial, side, quantity_e4)
            for side in ("buy", "sell")
            for quantity_e4 in (trial.smallest_e4, 20_000)
        ]
        words = {one.order_id: await venue.submit(one) for one in some}
        listed = await listed_after(trial, await trial.adapter(), start, pages_of=2)
        assert [each.order_id for each in listed] == [one.order_id for one in some]
        for one, each in zip(some, listed, strict=True):
            word = words[one.order_id]
            assert isinstance(word, Confirmed)
            assert word.execution_id == each.execution_id
            assert (each.trade_type, each.quantity_e4) == (one.trade_type, one.quantity_e4)
            assert each.instrument == one.instrument
        assert await listed_after(trial, venue, listed[1].cursor) == listed[2:]
        assert await listed_after(trial, venue, listed[-1].cursor) == []

    async def test_what_is_decided_later_is_listed_behind_what_was_listed(self, trial: VenueTrial) -> None:
        venue, late = await trial.adapter(), request(trial)
        start = await end_of_list(trial, venue)
        await trial.hold()
        await venue.submit(late)
        assert await listed_after(trial, venue, start) == []
        await trial.fill()
        await venue.submit(request(trial))
        (first,) = await listed_after(trial, venue, start)
        word = await told(venue, late)
        assert isinstance(word, Confirmed)
        (second,) = await listed_after(trial, venue, first.cursor)
        assert (second.order_id, second.execution_id) == (late.order_id, word.execution_id)

    async def test_a_fill_that_nobody_waits_for_is_listed(self, trial: VenueTrial) -> None:
        await trial.linger()
        venue, one = await trial.adapter(), request(trial)
        start = await end_of_list(trial, venue)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await venue.submit(one)
        await trial.fill()
        await self._comes_to_a_fill(trial, venue, one)
        assert [each.order_id for each in await listed_after(trial, venue, start)] == [one.order_id]

    async def test_whoever_reads_on_while_several_adapters_submit_misses_none(
        self, trial: VenueTrial
    ) -> None:
        await trial.fill()
        venues = [await trial.adapter() for _ in range(3)]
        some = [request(trial) for _ in range(10 * AT_ONCE)]
        cursor = await end_of_list(trial, venues[0])
        seen: list[str] = []
        submits = [asyncio.ensure_future(venues[number % 3].submit(one)) for number, one in enumerate(some)]
        executed: set[str] = set()
        async with asyncio.timeout(60):
            while not executed or not executed <= set(seen):
                if all(each.done() for each in submits):
                    executed = {one.order_id for one in some if await trial.executions(one.order_id)}
                for each in await venues[0].executions(trial.broker, cursor, 7):
                    seen.append(each.order_id)
                    cursor = each.cursor
                await asyncio.sleep(0.001)
        for answer in await asyncio.gather(*submits, return_exceptions=True):
            # On a busy machine the store may be too slow for some of them.
            assert isinstance(answer, Confirmed | Unconfirmed | VenueUnreachable), answer
        assert len(seen) == len(set(seen))
        assert all([await trial.executions(order_id) for order_id in seen])

    # --- Instruments ----------------------------------------------------------------------------------

    async def test_its_word_on_instruments(self, trial: VenueTrial) -> None:
        await trial.fill()
        venue = await trial.adapter()
        words = await venue.instruments(trial.broker, [trial.instrument])
        assert dict(words) == {trial.instrument: Tradeability.TRADABLE}

    async def test_an_instrument_that_is_closed_by_timetable_is_suspended(self, trial: VenueTrial) -> None:
        """And the venue answers: it counts as reached."""
        await trial.close()
        venue = await trial.adapter()
        words = await venue.instruments(trial.broker, [trial.instrument])
        assert dict(words) == {trial.instrument: Tradeability.SUSPENDED}

    async def test_it_tells_of_no_instrument_that_it_was_not_asked_for(self, trial: VenueTrial) -> None:
        """Asked for none it still answers: so it is known whether it can be reached."""
        await trial.fill()
        venue = await trial.adapter()
        assert dict(await venue.instruments(trial.broker, [])) == {}
        named = {trial.instrument, "NO-SUCH-THING"}
        words = await venue.instruments(trial.broker, named)
        assert set(words) <= named
        assert all(isinstance(word, Tradeability) for word in words.values())


def request(trial: VenueTrial, trade_type: str = "buy", quantity_e4: int = 10_000) -> HedgeRequest:
    """Under an id that nothing else has."""
    fine = fine_mg(quantity_e4, Metal.GOLD, FINENESS_E4_USUAL)
    return HedgeRequest(
        str(uuid4()), trial.broker, trial.instrument, trade_type, quantity_e4, 7_000_000, Metal.GOLD, fine
    )


async def listed_after(
    trial: VenueTrial, venue: Venue, cursor: str, pages_of: int = 100
) -> list[ListedExecution]:
    """All that the venue lists behind a cursor."""
    found: list[ListedExecution] = []
    while page := await venue.executions(trial.broker, cursor, pages_of):
        assert len(page) <= pages_of
        found += page
        cursor = page[-1].cursor
    return found


async def end_of_list(trial: VenueTrial, venue: Venue) -> str:
    listed = await listed_after(trial, venue, "")
    return listed[-1].cursor if listed else ""


async def final(venue: Venue, one: HedgeRequest) -> FinalAnswer | UnknownOrder:
    """The answer to a submission, asked for if the venue did not decide at once."""
    word = await venue.submit(one)
    return await told(venue, one) if isinstance(word, Unconfirmed | Duplicate) else word


async def told(venue: Venue, one: HedgeRequest) -> FinalAnswer | UnknownOrder:
    """What the venue says once it has decided, or that it does not know it."""
    async with asyncio.timeout(PATIENCE_S):
        while isinstance(word := await venue.order_status(one), Unconfirmed):
            await asyncio.sleep(0.02)
    return word
