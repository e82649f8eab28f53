"""`GET {base}/positions`: the account's positions against its allocation."""

from bullion.metals.metal import Metal
from bullion.orders.reader import OrderReader
from bullion.web.response import Response, json_response

from .orders import book_id_of
from .request import Request
from .wire.positions import ProductionPositions, TestPositions, metal_position, symbol_position


class Positions:
    def __init__(self, reader: OrderReader) -> None:
        self._reader = reader

    async def test(self, request: Request) -> Response:
        book = await self._reader.book(book_id_of(request))
        gold, silver = metal_position(Metal.GOLD, book.gold), metal_position(Metal.SILVER, book.silver)
        return json_response(TestPositions(gold, silver))

    async def production(self, request: Request) -> Response:
        book, weights = await self._reader.book_with_weights(book_id_of(request))
        gold, silver = metal_position(Metal.GOLD, book.gold), metal_position(Metal.SILVER, book.silver)
        return json_response(ProductionPositions(gold, silver, [symbol_position(each) for each in weights]))
