"""`GET {base}/positions`: the account's positions against its allocation."""

from functools import lru_cache

from bullion.allocation.book import OpenWeight
from bullion.allocation.position import Position
from bullion.metals.metal import Metal
from bullion.metals.weight import weight_text
from bullion.orders.reader import OrderReader
from bullion.web.response import Response, json_response

from .orders import book_id_of
from .request import Request
from .wire.positions import MetalPosition, ProductionPositions, SymbolPosition, TestPositions


class Positions:
    def __init__(self, reader: OrderReader) -> None:
        self._reader = reader

    async def test(self, request: Request) -> Response:
        book = await self._reader.book(book_id_of(request))
        return json_response(TestPositions(_metal(Metal.GOLD, book.gold), _metal(Metal.SILVER, book.silver)))

    async def production(self, request: Request) -> Response:
        book, weights = await self._reader.book_with_weights(book_id_of(request))
        return json_response(
            ProductionPositions(
                _metal(Metal.GOLD, book.gold),
                _metal(Metal.SILVER, book.silver),
                [_symbol(weight) for weight in weights],
            )
        )


@lru_cache(maxsize=8192)
def _metal(metal: Metal, position: Position) -> MetalPosition:
    return MetalPosition(
        net=weight_text(position.net_e4),
        limit=weight_text(position.limit_e4),
        used=weight_text(position.used_e4),
        free=weight_text(position.free_e4),
        unit=metal.unit,
    )


def _symbol(weight: OpenWeight) -> SymbolPosition:
    return SymbolPosition(
        symbol_code=weight.symbol_code,
        metal=weight.metal,
        buy=weight_text(weight.buy_e4),
        sell=weight_text(weight.sell_e4),
        net=weight_text(weight.buy_e4 - weight.sell_e4),
        unit=weight.metal.unit,
    )
