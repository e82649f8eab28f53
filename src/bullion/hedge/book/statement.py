"""Compares the venue's trades of a day, as CSV, with the fills of the book, by execution id."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO

import msgspec

from bullion.metals.scaled import NotAnAmount, plain, scaled
from bullion.metals.symbol import Side

_COLUMNS = {
    "execution_id": ("execution_id", "exec_id", "execid", "trade_id", "trade_no"),
    "symbol": ("symbol", "contract", "instrument"),
    "side": ("side", "buy_sell"),
    "quantity": ("quantity", "qty", "lots", "last_qty"),
    "price": ("price", "last_px", "trade_price"),
}
"""Each value, and the names of its column. Other columns are ignored."""
_SIDES = {"buy": Side.BUY, "b": Side.BUY, "1": Side.BUY, "sell": Side.SELL, "s": Side.SELL, "2": Side.SELL}
_QUANTITY_PLACES, _PRICE_PLACES = 8, 6


class Trade(msgspec.Struct, frozen=True):
    """A trade as the venue lists it, or as the book has it."""

    execution_id: str
    symbol: str
    side: str
    quantity_e8: int
    price_e6: int


class BadLine(msgspec.Struct, frozen=True):
    line: int
    """Its number in the file, from 1."""
    message: str


class Difference(msgspec.Struct, frozen=True):
    execution_id: str
    field: str
    ours: str
    theirs: str


class StatementReport(msgspec.Struct, frozen=True):
    matched: int
    missing: tuple[Trade, ...]
    """Fills of the book that the statement does not have."""
    extra: tuple[Trade, ...]
    """Trades of the statement that the book does not have."""
    different: tuple[Difference, ...]
    bad_lines: tuple[BadLine, ...]
    """Lines that cannot be read. Their trades may also be among the missing ones."""

    @property
    def agrees(self) -> bool:
        return not (self.missing or self.extra or self.different or self.bad_lines)


def compare_statement(text: str, ours: Iterable[Trade]) -> StatementReport:
    theirs, bad_lines = read_statement(text)
    matched = 0
    missing: list[Trade] = []
    different: list[Difference] = []
    known: dict[str, list[Trade]] = {}
    for trade in ours:
        known.setdefault(trade.execution_id, []).append(trade)
    for execution_id, own in known.items():
        if execution_id not in theirs:
            missing += own
            continue
        # A trade of the venue accounts for one fill: the one that is most like it.
        found = [tuple(_differences(each, theirs[execution_id])) for each in own]
        nearest = found.index(min(found, key=len))
        matched += not found[nearest]
        different += found[nearest]
        missing += own[:nearest] + own[nearest + 1 :]
    return StatementReport(
        matched=matched,
        missing=tuple(missing),
        extra=tuple(trade for execution_id, trade in theirs.items() if execution_id not in known),
        different=tuple(different),
        bad_lines=bad_lines,
    )


def read_statement(text: str) -> tuple[dict[str, Trade], tuple[BadLine, ...]]:
    """The trades by execution id, and all lines that cannot be read. Columns may have any order and case."""
    reader = csv.reader(StringIO(text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}"), newline=""))
    trades: dict[str, Trade] = {}
    bad: list[BadLine] = []
    columns: dict[str, int] | None = None
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if columns is None:
                columns = _columns(cells)
                missing = [name for name in _COLUMNS if name not in columns]
                if missing:
                    return {}, (BadLine(reader.line_num, f"columns are missing: {', '.join(missing)}"),)
                continue
            message = _take(cells, columns, trades)
            if message:
                bad.append(BadLine(reader.line_num, message))
    except csv.Error as error:
        bad.append(BadLine(reader.line_num, f"not CSV: {error}"))
    if columns is None and not bad:
        bad.append(BadLine(1, "the statement is empty; its first line must name the columns"))
    return trades, tuple(bad)


def _columns(cells: list[str]) -> dict[str, int]:
    names = [cell.lower().replace(" ", "_").replace("-", "_") for cell in cells]
    found: dict[str, int] = {}
    for value, known in _COLUMNS.items():
        place = next((names.index(name) for name in known if name in names), None)
        if place is not None:
            found[value] = place
    return found


def _take(cells: list[str], columns: Mapping[str, int], trades: dict[str, Trade]) -> str:
    """Add the trade of a line. Returns everything that is wrong with the line, or nothing."""
    if len(cells) <= max(columns.values()):
        return f"has {len(cells)} values, and needs {max(columns.values()) + 1}"
    values = {name: cells[place] for name, place in columns.items()}
    problems = [f"{name} is empty" for name in ("execution_id", "symbol") if not values[name]]
    side = _SIDES.get(values["side"].lower())
    if side is None:
        problems.append(f"side must be buy or sell, not {values['side'][:40]!r}")
    amounts = {}
    for name, places in (("quantity", _QUANTITY_PLACES), ("price", _PRICE_PLACES)):
        try:
            amounts[name] = scaled(values[name].replace(",", ""), places)
        except NotAnAmount as error:
            problems.append(f"{name}: {error}")
            continue
        if amounts[name] <= 0:
            problems.append(f"{name} must be above 0")
    if values["execution_id"] in trades:
        problems.append(f"execution id {values['execution_id'][:40]!r} is listed twice")
    if problems or side is None:
        return "; ".join(problems)
    trades[values["execution_id"]] = Trade(
        values["execution_id"], values["symbol"], side.value, amounts["quantity"], amounts["price"]
    )
    return ""


def _differences(ours: Trade, theirs: Trade) -> Iterator[Difference]:
    if ours.symbol.upper() != theirs.symbol.upper():
        yield Difference(ours.execution_id, "symbol", ours.symbol, theirs.symbol)
    if ours.side != theirs.side:
        yield Difference(ours.execution_id, "side", ours.side, theirs.side)
    if ours.quantity_e8 != theirs.quantity_e8:
        two = (plain(each.quantity_e8, _QUANTITY_PLACES) for each in (ours, theirs))
        yield Difference(ours.execution_id, "quantity", *two)
    if ours.price_e6 != theirs.price_e6:
        two = (plain(each.price_e6, _PRICE_PLACES) for each in (ours, theirs))
        yield Difference(ours.execution_id, "price", *two)
