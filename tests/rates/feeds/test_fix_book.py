"""Random snapshots and changes of a FIX source, against a book of at most one price on each side."""

from itertools import count

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from bullion.hedge.fix.codec import Pair
from bullion.rates.feeds.quote import Unreadable
from bullion.rates.feeds.source_settings import SourceInstrument

from .fix_talk import Talk, prices

CENTS = st.integers(1, 10_000_000)
SIDES = st.sampled_from("01")


def text(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


class Book(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.talk = Talk(SourceInstrument(instrument="GOLD", symbol="XAU/USD"))
        self.talk.step()
        self.ids = (f"e{number}" for number in count())
        self.sides: dict[str, tuple[str, int]] | None = None
        """By side, the id and the price; None before the snapshot."""

    def tell(self, *entries: list[Pair]) -> None:
        items = self.talk.change(*entries)
        if self.sides is None:
            assert items == []
            return
        bid, ask = (self.sides[side][1] * 10_000 if side in self.sides else None for side in "01")
        assert prices(items) == (bid, ask)

    @rule(bid=CENTS, ask=CENTS)
    def snapshot(self, bid: int, ask: int) -> None:
        ids = [next(self.ids), next(self.ids)]
        assert prices(self.talk.snapshot(text(bid), text(ask), ids=ids)) == (bid * 10_000, ask * 10_000)
        self.sides = {"0": (ids[0], bid), "1": (ids[1], ask)}

    @rule(side=SIDES, cents=CENTS, new_first=st.booleans())
    def new(self, side: str, cents: int, *, new_first: bool) -> None:
        """A new entry instead of the old one, in either order."""
        entry_id = next(self.ids)
        entries: list[list[Pair]] = [[(279, "0"), (269, side), (278, entry_id), (270, text(cents))]]
        if self.sides is not None:
            if side in self.sides:
                entries.append([(279, "2"), (278, self.sides[side][0])])
            self.sides[side] = (entry_id, cents)
        self.tell(*(entries if new_first else reversed(entries)))

    @precondition(lambda self: self.sides)
    @rule(data=st.data(), cents=CENTS)
    def move(self, data: st.DataObject, cents: int) -> None:
        assert self.sides
        side = data.draw(st.sampled_from(sorted(self.sides)))
        entry_id, _ = self.sides[side]
        self.sides[side] = (entry_id, cents)
        self.tell([(279, "1"), (278, entry_id), (270, text(cents))])

    @precondition(lambda self: self.sides)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        assert self.sides
        side = data.draw(st.sampled_from(sorted(self.sides)))
        entry_id, _ = self.sides.pop(side)
        self.tell([(279, "2"), (278, entry_id)])

    @rule(side=SIDES)
    def unknown_entry(self, side: str) -> None:
        items = self.talk.change([(279, "1"), (269, side), (278, "nobody"), (270, "5")])
        assert (items == []) is (self.sides is None)
        assert all(isinstance(each, Unreadable) for each in items)
        self.subscribe_anew()

    @rule()
    def gap(self) -> None:
        items = self.talk.data.gap(self.talk.now_us)
        assert [type(each) for each in items] == [Unreadable]
        self.sides = {}  # Emptied, also before the snapshot.
        self.subscribe_anew()

    def subscribe_anew(self) -> None:
        if self.sides is None:
            return
        self.sides = None
        while not self.talk.step(1):
            pass


TestBook = Book.TestCase
TestBook.settings = settings(max_examples=40, stateful_step_count=25)
