"""Processor time of the FIX codec and session, without sockets and store: `python -m bench.fix`.

Each figure is the best of some turns, and stands beside the time that the standard library's JSON takes for
the same fields, which tells how fast the machine is now.
"""

import json
import time
from collections.abc import Callable, Sequence

from bullion.hedge.fix.codec import Decoder, Message, Pair, encode, time_text
from bullion.hedge.fix.session import Session
from bullion.hedge.fix.session_effects import Deliver, Effect, Role, Send, SessionSettings

AT_US = 1_800_000_000_123_456
ORDER: list[Pair] = [
    (35, "D"), (49, "BULLION"), (56, "VENUE"), (34, 1234), (52, time_text(AT_US)),
    (11, "7N42dgm5tFLK9N8MT7fHC7"), (55, "XAU/USD"), (54, 1), (60, time_text(AT_US)),
    (38, "32.15"), (40, 2), (44, "2650.25"), (59, 4),
]  # fmt: skip
FILL: list[Pair] = [
    (35, "8"), (37, "V1"), (11, "7N42dgm5tFLK9N8MT7fHC7"), (17, "E1"), (150, "F"), (39, 2), (55, "XAU/USD"),
    (54, 1), (38, "32.15"), (32, "32.15"), (31, "2650.25"), (151, 0), (14, "32.15"), (6, "2650.25"),
]  # fmt: skip
_TURNS, _TIMES = 7, 2_000


def main() -> None:
    raw, decoder = encode(ORDER), Decoder()
    fields = [[tag, str(value)] for tag, value in ORDER]
    text = json.dumps(fields)
    pair = _Pair()
    yardstick = _best(lambda: json.loads(json.dumps(fields)))
    print(f"An order of {len(raw)} bytes; as JSON there and back ({len(text)} bytes) {yardstick:.1f} µs.")
    for name, step in {
        "encode": lambda: encode(ORDER),
        "parse": lambda: decoder.feed(raw),
        "time stamp": lambda: time_text(AT_US),
        "order out, two reports in, both sides": pair.deal,
    }.items():
        took = _best(step)
        print(f"{name:40}{took:8.1f} µs{took / yardstick:8.2f} of JSON")


def _best(step: Callable[[], object]) -> float:
    """Microseconds of processor for one step."""
    found = []
    for _ in range(_TURNS):
        begun = time.process_time_ns()
        for _ in range(_TIMES):
            step()
        found.append((time.process_time_ns() - begun) / 1000 / _TIMES)
    return min(found)


class _Pair:
    """Two sessions that are logged on with each other."""

    def __init__(self) -> None:
        self._us = Session(SessionSettings(sender="BULLION", target="VENUE"), AT_US)
        venue = SessionSettings(sender="VENUE", target="BULLION", role=Role.ACCEPTOR)
        self._venue = Session(venue, AT_US)
        self._to_venue, self._to_us = Decoder(), Decoder()
        answer = _pass(self._us.start(AT_US), self._to_venue, self._venue)
        _pass(answer, self._to_us, self._us)

    def deal(self) -> None:
        sent = self._us.send([(35, "D"), *ORDER[5:]], AT_US)
        assert isinstance(_pass(sent, self._to_venue, self._venue)[0], Deliver)
        for _ in range(2):
            back = _pass(self._venue.send(FILL, AT_US), self._to_us, self._us)
            assert isinstance(back[0], Deliver)


def _pass(effects: Sequence[Effect], decoder: Decoder, session: Session) -> list[Effect]:
    data = b"".join(each.data for each in effects if isinstance(each, Send))
    messages = [each for each in decoder.feed(data) if isinstance(each, Message)]
    return [effect for each in messages for effect in session.received(each, AT_US)]


if __name__ == "__main__":
    main()
