"""The way of an order through a node, from the socket to the answer."""

from collections.abc import Sequence

from tools.pictures.canvas import Canvas

_WIDE, _HIGH, _ROW, _GAP = 128, 84, 168, 22


def order_way() -> str:
    picture = Canvas(
        408,
        "The way of an order",
        "A call passes the gate, its body is read, the market's checks price or deny it from memory, "
        "the queue decides it with others on their books, and the ledger records them in one durable "
        "step. What does not hold any more is decided again. Then it is answered, and the decision is "
        "noted.",
    )
    picture.frame((170, 18), (570, 92), "this node's memory, which follows the store")
    for left, name, word in (
        (190, "catalogue", "who may do what"),
        (386, "board", "the newest ticks"),
        (576, "last books", "as last seen"),
    ):
        picture.box((left, 44), (146, 52), name, word, kind="grey")
    steps = (
        ("api.gate", "address, key,", "switches, scope,", "order budgets"),
        ("api.orders", "body and key,", "read exactly"),
        ("orders.market", "the checks in", "their order,", "one price"),
        ("booking.queue", "a batch decided", "on its books"),
        ("store ledger", "all plans that", "hold, in one", "durable step"),
    )
    lefts = [16 + number * (_WIDE + _GAP) for number in range(5)]
    for left, (name, *words) in zip(lefts, steps, strict=True):
        picture.box(
            (left, _ROW), (_WIDE, _HIGH), name, *words, kind="gold" if name == "store ledger" else "blue"
        )
    for left in lefts[1:]:
        picture.way((left - _GAP, _ROW + 42), (left - 2, _ROW + 42))
    _from_memory(picture, lefts)
    _to_the_limiter(picture, lefts[0] + _WIDE / 2)
    _back(picture, lefts)
    return picture.svg()


def _from_memory(picture: Canvas, lefts: Sequence[float]) -> None:
    gate, market, queue = lefts[0] + _WIDE / 2, lefts[2], lefts[3] + _WIDE / 2
    picture.way((220, 96), (220, 130), (gate, 130), (gate, _ROW - 2))
    picture.way((300, 96), (300, 130), (market + 30, 130), (market + 30, _ROW - 2))
    picture.way((430, 96), (430, 144), (market + 92, 144), (market + 92, _ROW - 2))
    picture.way((610, 96), (610, 130), (queue, 130), (queue, _ROW - 2))


def _to_the_limiter(picture: Canvas, middle: float) -> None:
    picture.box((16, 316), (_WIDE, 70), "the limiter", "memory,", "or Redis", kind="grey")
    picture.way(
        (middle, _ROW + _HIGH + 2), (middle, 314), kind="both", words=["one question"], at=(middle, 288)
    )


def _back(picture: Canvas, lefts: Sequence[float]) -> None:
    queue, ledger = lefts[3] + _WIDE / 2, lefts[4] + _WIDE / 2
    low = _ROW + _HIGH
    picture.way((ledger - 30, low), (ledger - 30, low + 28), (queue, low + 28), (queue, low + 2))
    picture.text((queue - 96, low + 48), "settled, moved or behind: decide again")
    picture.box((380, 316), (172, 70), "api.tracer", "a note of the decision,", "written later", kind="grey")
    picture.box((586, 316), (158, 70), "the answer", "by api.order_view,", "to the client", kind="green")
    picture.way((ledger + 24, low), (ledger + 24, 314))
    picture.way((586, 351), (554, 351))
