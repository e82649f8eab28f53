"""The page on the life of an order: its picture, its tables and its numbers are those of the code."""

import re
from html.parser import HTMLParser

from bullion.booking import hedge_requests, hedging, queue, venue_calls
from bullion.hedge import watch
from bullion.orders.status import DETAILS, FINAL, HOLDING, TRANSITIONS, Status
from bullion.store import ledger_postgres
from tests.docs.markdown import ROOT, blocks, prose

PAGE = ROOT / "docs/order-life.md"
PICTURE = ROOT / "docs/pictures/order-life.svg"
PHASES = ROOT / "docs/pictures/booking-phases.svg"
LIVES = {status.value for status in Status} - {Status.FILLED.value}
WAYS = {
    (before.value, after.value)
    for froms in TRANSITIONS.values()
    for before, after in froms.items()
    if before is not Status.FILLED
}


def section(heading: str) -> str:
    return prose(PAGE).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def rows(heading: str) -> list[list[str]]:
    lines = [line for line in section(heading).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


class Picture(HTMLParser):
    """What is drawn: states as groups with their texts and the classes of their box, ways as named paths."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {}
        self.kinds: dict[str, set[str]] = {}
        self.ways: set[str] = set()
        self._state: str | None = None
        self._in_text = False
        self.feed(PICTURE.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "g":
            self._state = given["id"]
            self.texts[self._state] = []
        elif tag == "path" and "id" in given:
            self.ways.add(given["id"])
        elif tag == "rect" and self._state is not None:
            self.kinds[self._state] = set(given["class"].split())
        self._in_text = tag == "text"

    def handle_endtag(self, tag: str) -> None:
        if tag == "g":
            self._state = None
        self._in_text = False

    def handle_data(self, data: str) -> None:
        if self._in_text and self._state is not None:
            self.texts[self._state].append(data)


def test_the_picture_has_every_state_and_every_way_and_no_other() -> None:
    drawn = Picture()
    assert drawn.texts == {name: [name, DETAILS[Status(name)]] for name in LIVES}
    assert drawn.ways == {f"{before}-{after}" for before, after in WAYS} | {"POST-pending"}


def test_the_picture_tells_what_holds_a_position_and_what_is_an_end() -> None:
    for name, kinds in Picture().kinds.items():
        assert ("holds" in kinds) == (Status(name) in HOLDING)
        assert ("end" in kinds) == (Status(name) in FINAL)


def test_the_picture_can_be_read_in_the_dark() -> None:
    assert "prefers-color-scheme: dark" in PICTURE.read_text("utf-8")


def test_the_letters_name_every_state() -> None:
    assert set(re.findall(r"[a-z]+", blocks(PAGE)[0].text)) >= LIVES


def test_the_table_of_states() -> None:
    shown = {row[0].strip("`"): row for row in rows("What each status means")}
    assert set(shown) == LIVES
    for name, (_, detail, price, number, position, stock) in shown.items():
        status = Status(name)
        assert detail == f"`{DETAILS[status]}`"
        assert (position, stock) == (("counts", "taken") if status in HOLDING else ("no longer", "back"))
        if status is not Status.DELETED:  # That one may have been a deal or not.
            deal = status in (Status.OPEN, Status.CLOSING, Status.CLOSED)
            assert price.startswith("shown") == deal
            assert (number in ("given", "kept")) == deal


def test_the_table_of_events() -> None:
    shown = {
        (event, before, after)
        for event, froms, after, _ in (
            (row[0], re.findall(r"`(\w+)`", row[1]), row[2].strip("`"), row[3])
            for row in rows("Who changes the status")
        )
        for before in froms
    }
    assert shown == {
        (event.value, before.value, after.value)
        for event, froms in TRANSITIONS.items()
        for before, after in froms.items()
    }


def test_its_numbers() -> None:
    text = re.sub(r"\s+", " ", prose(PAGE) + "".join(block.text for block in blocks(PAGE)))
    drawn = PHASES.read_text("utf-8")
    lease_s = hedge_requests.LEASE_US // 1_000_000
    assert f"for up to {hedging.WAIT_S:g} seconds" in text
    assert f"leased to its holder for {lease_s} seconds" in text
    assert drawn.count(f"leased for {lease_s} s") == drawn.count(f"leased to it for {lease_s} s") == 1
    assert f"within {hedging.WAIT_S:g} s," in drawn
    assert f"A call to the venue takes at most {hedging._CALL_S:g} seconds" in text
    assert hedging._EVERY_S == 0.5
    assert "twice a second" in text
    assert (venue_calls.FIRST_PAUSE_S, venue_calls.PAUSE_S_MAX) == (1, 4)
    assert "again after 1, 2, and then every 4 seconds" in text
    assert hedging._OLD_US == 30_000_000
    assert "alerts the desk after half a minute" in text
    assert f"`booking_busy` after {queue.DEADLINE_S:g} seconds" in text
    assert f"within about {watch._REACHED_AGE_S_MAX:g} seconds" in text
    assert f"has not reported it for {watch._TRADEABILITY_AGE_S_MAX:g} seconds" in text
    assert f"within {ledger_postgres.VERIFY_S:g} seconds in all" in text
