"""Two sessions with kept numbers over a line that is cut at random: what is lost is told."""

from random import Random

import pytest

from bullion.hedge.fix.codec import Decoder, Message
from bullion.hedge.fix.session import Session
from bullion.hedge.fix.session_effects import (
    LOGGED_ON,
    Deliver,
    Effect,
    Numbers,
    Role,
    Send,
    SessionSettings,
    Skipped,
)
from tests.support.scale import SCALE

RUNS = 40 * SCALE
NOW = 1_800_000_000_000_000


class Side:
    """One side of the line, over all its connections."""

    def __init__(self, name: str, other: str, role: Role) -> None:
        self.settings = SessionSettings(sender=name, target=other, role=role, reset_on_logon=False)
        self.session = Session(self.settings, NOW)
        self.sent: dict[str, int] = {}
        """The number of each message."""
        self.delivered: list[str] = []
        self.skipped: set[int] = set()
        self.wire: list[bytes] = []
        """What it sent, and the other side has not received."""

    def connect(self, lost: int) -> None:
        """A new session; `lost` numbers were reserved and never used."""
        numbers = self.session.numbers
        self.session = Session(self.settings, NOW, Numbers(numbers.outgoing + lost, numbers.incoming))
        self.wire.clear()

    def send(self, text: str) -> None:
        if self.session.state in LOGGED_ON:
            self.sent[text] = self.session.numbers.outgoing
            self.take(self.session.send([(35, "B"), (148, text)], NOW))

    def take(self, effects: object) -> None:
        assert isinstance(effects, list | tuple)
        for each in effects:
            self._take(each)

    def _take(self, effect: Effect) -> None:
        if isinstance(effect, Send):
            self.wire.append(effect.data)
        elif isinstance(effect, Deliver):
            self.delivered.append(effect.message.get(148) or "")
        elif isinstance(effect, Skipped):
            self.skipped |= set(range(effect.first, effect.last + 1))

    def receive(self, other: "Side") -> None:
        if other.wire:
            (message,) = Decoder().feed(other.wire.pop(0))
            assert isinstance(message, Message)
            self.take(self.session.received(message, NOW))


@pytest.mark.parametrize("seed", range(RUNS))
def test_every_message_arrives_once_or_is_told_as_lost(seed: int) -> None:
    chance = Random(seed)  # noqa: S311
    us, venue = Side("US", "THEM", Role.INITIATOR), Side("THEM", "US", Role.ACCEPTOR)
    connect(us, venue, chance)
    for number in range(200):
        step = chance.random()
        if step < 0.03:
            connect(us, venue, chance)
        elif step < 0.5:
            chance.choice((us, venue)).send(f"message {number}")
        elif step < 0.75:
            us.receive(venue)
        else:
            venue.receive(us)
    connect(us, venue, chance)
    while us.wire or venue.wire:
        us.receive(venue)
        venue.receive(us)
    for one, other in ((us, venue), (venue, us)):
        assert one.session.state in LOGGED_ON
        assert one.session.numbers.outgoing == other.session.numbers.incoming
        assert len(set(other.delivered)) == len(other.delivered)
        numbers = [one.sent[text] for text in other.delivered]
        assert numbers == sorted(numbers)
        for text, number in one.sent.items():
            assert text in other.delivered or number in other.skipped, text
    assert us.delivered or venue.delivered
    assert us.skipped or venue.skipped


def connect(us: Side, venue: Side, chance: Random) -> None:
    """Cut what there is, whatever is on its way, and connect anew."""
    for side in (us, venue):
        side.connect(chance.choice((0, 0, 3)))
    us.take(us.session.start(NOW))
