"""`GET {base}/positions`: what the account holds against its allocation."""

from typing import Any

from bullion.allocation.book import Book, OpenWeight
from bullion.allocation.position import Position
from bullion.metals.metal import Metal
from bullion.metals.weight import weight_text
from bullion.orders.reader import OrderReader
from bullion.web.answer import Answer, json_answer

from .orders import of_book
from .request import Request

_KEPT_MAX = 10_000


class Positions:
    """Keeps what was last written of each test book, for as long as it is read the same again."""

    def __init__(self, reader: OrderReader) -> None:
        self._reader = reader
        self._kept: dict[int, tuple[Position, Position, Answer]] = {}

    async def test(self, request: Request) -> Answer:
        book = await self._reader.book(of_book(request))
        kept = self._kept.get(book.id)
        if kept is not None and kept[0] == book.gold and kept[1] == book.silver:
            return kept[2]
        answer = json_answer(_metals(book))
        if len(self._kept) >= _KEPT_MAX:
            self._kept.clear()
        self._kept[book.id] = (book.gold, book.silver, answer)
        return answer

    async def production(self, request: Request) -> Answer:
        book, weights = await self._reader.open_book(of_book(request))
        return json_answer({**_metals(book), "symbols": [_symbol(weight) for weight in weights]})


def _metals(book: Book) -> dict[str, Any]:
    return {metal.value: _view(metal, book.position(metal)) for metal in Metal}


def _symbol(weight: OpenWeight) -> dict[str, str]:
    return {
        "symbol_code": weight.symbol_code,
        "metal": weight.metal.value,
        "buy": weight_text(weight.buy_e4),
        "sell": weight_text(weight.sell_e4),
        "net": weight_text(weight.buy_e4 - weight.sell_e4),
        "unit": weight.metal.unit,
    }


def _view(metal: Metal, position: Position) -> dict[str, str]:
    return {
        "net": weight_text(position.net_e4),
        "limit": weight_text(position.limit_e4),
        "used": weight_text(position.used_e4),
        "free": weight_text(position.free_e4),
        "unit": metal.unit,
    }
