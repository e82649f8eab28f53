"""Keeps the board up to date with the store."""

from bullion.follower import Follower

from .board import Board
from .source import RatesSource


class BoardFollower(Follower):
    def __init__(self, board: Board, source: RatesSource) -> None:
        async def read() -> None:
            found = await source.ticks(board.version)
            board.apply(found.ticks, found.version, found.unreadable, whole=found.whole)

        super().__init__("rates", read, source.wait_for_change)
