"""The house: every floor of `.importlinter`, with its rooms."""

import configparser
from pathlib import Path

from tools.pictures.canvas import WIDTH, Canvas

_WORDS = {
    "__main__": "the command line",
    "demo": "a demo with sample data",
    "doctor": "what is wrong here?",
    "workers": "several processes",
    "maintenance": "backup, restore, copy",
    "serve": "both ports on one loop",
    "wiring": "ties the rooms together",
    "secret": "the deployment's secret: read, or made",
    "settings": "the environment, typed",
    "api": "clients",
    "desk": "the operator",
    "books": "verified",
    "store": "what lasts",
    "web": "HTTP itself",
    "records": "what a desk keeps",
    "booking": "decides orders, and records them",
    "events": "what happened to an account",
    "orders": "an order, its life, and the market's checks",
    "catalogue": "the store in memory",
    "allocation": "positions",
    "rates": "ticks, prices",
    "hedge": "the venue",
    "keys": "their verdict",
    "budgets": "windows",
    "accounts": "switches",
    "metals": "weights, rupees, symbols",
    "refusals": "the one table of codes",
    "environment": "test and production",
    "follower": "memory that follows the store",
    "faults": "errors of the store",
    "unreadable": "unreadable rows",
    "last_success": "of background tasks",
    "request_ids": "of the current calls",
}
"""Short: the page below the picture tells more. A room without words here is drawn all the same."""
_EDGES = {"api", "desk", "store", "web", "records"}
_LEFT, _TOP, _FLOOR, _GAP = 62, 58, 46, 7


def floors_of(importlinter: str) -> list[list[str]]:
    """The rooms of each floor, from the roof down."""
    settings = configparser.ConfigParser()
    settings.read_string(importlinter)
    layers = settings["importlinter:contract:rooms"]["layers"]
    return [[room.strip() for room in floor.split("|")] for floor in layers.split("\n") if floor.strip()]


def rooms(root: Path) -> str:
    floors = floors_of((root / ".importlinter").read_text("utf-8"))
    height = _TOP + len(floors) * (_FLOOR + _GAP) + 14
    told = "; ".join(", ".join(floor) for floor in floors)
    picture = Canvas(height, "The rooms, floor by floor", f"From the roof down: {told}.")
    edges = [number for number, floor in enumerate(floors) if _EDGES & set(floor)]
    _legend(picture)
    for number, floor in enumerate(floors):
        kind = "grey" if number < edges[0] else "blue" if number <= edges[-1] else "gold"
        top = _TOP + number * (_FLOOR + _GAP)
        width = (WIDTH - 20 - _LEFT - (len(floor) - 1) * _GAP) / len(floor)
        for place, room in enumerate(floor):
            words = [_WORDS[room]] if room in _WORDS else []
            picture.box((_LEFT + place * (width + _GAP), top), (width, _FLOOR), room, *words, kind=kind)
    picture.way((34, _TOP + 4), (34, height - 22))
    picture.text((20, _TOP - 18), "may use")
    picture.text((20, _TOP - 4), "what is below")
    return picture.svg()


def _legend(picture: Canvas) -> None:
    told = (
        (236, "grey", "start and set-up"),
        (386, "blue", "the edges: calls, stores"),
        (590, "gold", "the trade itself"),
    )
    for left, kind, text in told:
        picture.box((left, 18), (22, 24), "", kind=kind)
        picture.text((left + 30, 34), text)
