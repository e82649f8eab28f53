"""The phases of a production order's booking, between client, node, store and venue."""

from tools.pictures.canvas import Canvas

_CLIENT, _NODE, _STORE, _VENUE = 184, 330, 518, 700
_LIVES = {"client": _CLIENT, "node": _NODE, "store": _STORE, "venue": _VENUE}


def booking_phases() -> str:
    picture = Canvas(
        728,
        "The phases of a booking",
        "One: order, position, stock and hedge request are recorded in one transaction. Two: the venue "
        "is asked under the order's own id, with no transaction open. Three: its word is written in "
        "another transaction, and the client is answered. Without a word within 2 seconds the client "
        "gets 202. Four: any node takes up what is due, asks the venue first, and finishes it.",
    )
    for name, middle in _LIVES.items():
        picture.way((middle, 50), (middle, 704), kind="line")
        picture.box((middle - 48, 18), (96, 32), name, kind="green" if name == "client" else "blue")
    _recorded(picture)
    _sent(picture)
    _settled(picture)
    _late(picture)
    return picture.svg()


def _arrow(picture: Canvas, y: float, start: float, end: float, *words: str) -> None:
    inward = 2 if end > start else -2
    picture.way(
        (start, y), (end - inward, y), words=words, at=((start + end) / 2, y - 6 - 15 * (len(words) - 1))
    )


def _phase(picture: Canvas, y: float, number: int, words: str, middle: float = 26) -> None:
    picture.box((middle - 12, y - 12), (24, 24), "", kind="gold")
    picture.text((middle, y + 5), str(number), style="name middle")
    picture.text((middle + 20, y + 4), words)


def _recorded(picture: Canvas) -> None:
    _arrow(picture, 84, _CLIENT, _NODE, "POST …/orders")
    picture.box((_NODE - 72, 94), (144, 28), "", "judged, from memory", kind="grey")
    _phase(picture, 150, 1, "recorded first")
    _arrow(picture, 150, _NODE, _STORE, "one transaction")
    picture.box(
        (_STORE - 116, 160),
        (232, 74),
        "order, pending",
        "position, stock, counts",
        "a hedge request, leased for 5 s",
        kind="gold",
    )
    _arrow(picture, 260, _STORE, _NODE, "committed")


def _sent(picture: Canvas) -> None:
    _phase(picture, 308, 2, "then sent")
    _arrow(picture, 308, _NODE, _VENUE, "submit, under the order's own id;", "no transaction is open")
    _arrow(picture, 340, _VENUE, _NODE, "yes, no, or not yet")


def _settled(picture: Canvas) -> None:
    _phase(picture, 376, 3, "then settled")
    _arrow(picture, 376, _NODE, _STORE, "one transaction")
    picture.box(
        (_STORE - 116, 386),
        (232, 58),
        "open, with a deal number",
        "or rejected, its weight back",
        kind="gold",
    )
    _arrow(picture, 470, _STORE, _NODE, "committed")
    _arrow(picture, 470, _NODE, _CLIENT, "201, or 409")


def _late(picture: Canvas) -> None:
    picture.frame((10, 490), (740, 226), 'no word within 2 s, or "not yet"')
    _arrow(picture, 536, _NODE, _CLIENT, "202, pending")
    _phase(picture, 578, 4, "finished later")
    _arrow(picture, 578, _NODE, _STORE, "any node, twice a", "second: what is due?")
    _arrow(picture, 612, _STORE, _NODE, "leased to it for 5 s")
    _arrow(
        picture,
        660,
        _NODE,
        _VENUE,
        "ask by its id; only what the venue never heard",
        "of is sent, under the same id",
    )
    _arrow(picture, 694, _NODE, _STORE, "settled as above")
