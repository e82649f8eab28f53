"""What a client does after which answer to an order."""

from dataclasses import dataclass

from tools.pictures.canvas import Canvas

_LEFT, _ASKED, _RIGHT, _TOLD, _RAIL = 62, 278, 380, 322, 728
_FIRST, _STEP, _HIGH = 158, 70, 56


@dataclass(frozen=True)
class Answer:
    family: str
    """As the guide for client authors calls it."""
    seen: str
    words: tuple[str, ...]
    again: bool = False
    """Whether the same is sent again."""


ANSWERS = (
    Answer(
        "done",
        "201, or 200 and Idempotent-Replayed",
        ("Keep the order's id.", "Still pending? Then as below."),
    ),
    Answer(
        "taken, but not a deal yet",
        "202",
        ("Ask by its id until it is a deal or none.", "Send no second order."),
    ),
    Answer(
        "no answer",
        "lost, broken off, or no detail.code",
        ("It may have been taken, or not. Wait a", "second; then same key, same body."),
        again=True,
    ),
    Answer(
        "wait as told",
        "every 429 and 503",
        ("Wait that long.", "Then same key, same body."),
        again=True,
    ),
    Answer(
        "wait a little",
        "booking_conflict, request_timeout …",
        ("Wait a second, longer each time.", "Then same key, same body."),
        again=True,
    ),
    Answer(
        "decide anew",
        "price_moved, order_rejected",
        ("Nothing was booked. Look at the quote.", "A new order has a new key."),
    ),
    Answer(
        "look first",
        "idempotency_key_reused",
        ("An outcome exists. Send the first body", "again, or look by client_order_id."),
    ),
    Answer(
        "mend the order",
        "invalid_request, limit_exceeded …",
        ("The same would be refused again.", "A changed order is a new one."),
    ),
    Answer(
        "the market is shut",
        "trading_halted, symbol_frozen …",
        ("Not now. Watch tradable in the quotes.", "Later it is a new order."),
    ),
    Answer("call the desk", "401, and 403 of key or account", ("Stop sending.",)),
)


def retry() -> str:
    height = _FIRST + len(ANSWERS) * _STEP + 46
    told = "; ".join(f"{answer.family}: {' '.join(answer.words)}" for answer in ANSWERS)
    picture = Canvas(height, "After which answer what to do", told)
    _beginning(picture)
    trunk = _LEFT - 28
    last = _FIRST + (len(ANSWERS) - 1) * _STEP + _HIGH / 2
    picture.way((_RIGHT + 90, 82), (_RIGHT + 90, 112), (trunk, 112), (trunk, last), kind="rail")
    picture.text((trunk + 12, 136), "of which family is the answer?")
    for number, answer in enumerate(ANSWERS):
        _row(picture, answer, _FIRST + number * _STEP, trunk)
    lowest = max(number for number, answer in enumerate(ANSWERS) if answer.again)
    picture.way((_RAIL, _FIRST + lowest * _STEP + _HIGH / 2), (_RAIL, 50), (_RIGHT + _TOLD + 2, 50))
    rule = "Never a new key while you do not know what became of the old one."
    picture.text((380, height - 20), rule, style="name middle")
    return picture.svg()


def _beginning(picture: Canvas) -> None:
    words = ("make a new key for it,", "and write key and body down")
    picture.box((_LEFT, 18), (_ASKED, 64), "decide on an order", *words, kind="green")
    picture.box((_RIGHT, 18), (_TOLD, 64), "send it", "with its key and its body", kind="green")
    picture.way((_LEFT + _ASKED, 50), (_RIGHT - 2, 50))


def _row(picture: Canvas, answer: Answer, top: float, trunk: float) -> None:
    middle = top + _HIGH / 2
    picture.way((trunk, middle), (_LEFT - 2, middle))
    picture.box((_LEFT, top), (_ASKED, _HIGH), answer.family, answer.seen, kind="blue")
    picture.way((_LEFT + _ASKED, middle), (_RIGHT - 2, middle))
    picture.box((_RIGHT, top), (_TOLD, _HIGH), "", *answer.words, kind="gold" if answer.again else "grey")
    if answer.again:
        picture.way((_RIGHT + _TOLD, middle), (_RAIL, middle), kind="rail")
