"""`GET {base}/positions`: what the account holds against its allocation."""

from bullion.allocation.book import book_id
from bullion.allocation.position import Position
from bullion.metals.metal import Metal
from bullion.metals.weight import weight_text
from bullion.orders.reader import OrderReader
from bullion.web.answer import Answer, json_answer

from .request import Request


class Positions:
    def __init__(self, reader: OrderReader) -> None:
        self._reader = reader

    async def __call__(self, request: Request) -> Answer:
        caller = request.caller
        book = await self._reader.book(book_id(caller.account.id, caller.key.environment))
        return json_answer({metal.value: _view(metal, book.position(metal)) for metal in Metal})


def _view(metal: Metal, position: Position) -> dict[str, str]:
    return {
        "net": weight_text(position.net_e4),
        "limit": weight_text(position.limit_e4),
        "used": weight_text(position.used_e4),
        "free": weight_text(position.free_e4),
        "unit": metal.unit,
    }
