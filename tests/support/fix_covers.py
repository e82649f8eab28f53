"""Covers of a hedge book over a FIX line: made, sent and watched at the desk."""

from typing import Any

from .node import DeskClient, until


class Covers:
    def __init__(self, desk: DeskClient) -> None:
        self.desk = desk

    def open_book(self) -> None:
        self.desk.do("PATCH", "/hedge/book/gold", {"policy": "each", "limit": "100000"})

    def sent(self, quantity: str, key: str, side: str = "buy", contract: str = "GOLDG") -> str:
        """The id of a new cover that was sent. Each step may be repeated."""
        body = {"contract": contract, "side": side, "quantity": quantity, "idempotency_key": key}
        made = self.desk.do("POST", "/hedge/covers", body)
        if made["state"] == "suggested":
            self.desk.do("POST", f"/hedge/covers/{made['id']}/send")
        return str(made["id"])

    def read(self, cover_id: str) -> Any:
        (found,) = [each for each in self.all() if each["id"] == cover_id]
        return found

    def all(self) -> list[Any]:
        found: list[Any] = []
        while True:
            page = self.desk.do("GET", f"/hedge/covers?limit=200&offset={len(found)}")
            found += page["items"]
            if len(found) >= page["total"]:
                return found

    def becomes(self, cover_id: str, state: str, within_s: float = 30.0) -> Any:
        until(lambda: self.read(cover_id)["state"] == state, within_s)
        return self.read(cover_id)

    def book_mg(self) -> int:
        """What all covers and deals over the venue add up to in the book, in fine milligrams."""
        gold = next(each for each in self.desk.do("GET", "/hedge/book")["items"] if each["metal"] == "gold")
        return round(float(gold["cover"]) * 1000)
