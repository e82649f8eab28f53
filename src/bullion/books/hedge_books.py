"""Recomputes the hedge books: their positions, their money, and the covers and fills that they stand on."""

from collections.abc import AsyncIterator, Iterator

from bullion.hedge.book.money import BookMoney
from bullion.store.book_profit import BrokenBook, day_mark, money_steps
from bullion.store.book_records import clients_mg
from bullion.store.engine import Row, Transaction

from .book_history import history_differences
from .difference import Check, Found, Owner

_POSITION = Check("verify_book_sums", "hedge_book", "hedge book,")
_MONEY = Check("verify_book_sums", "book_money", "money of the hedge book,")
_COVER = Check("verify_covers", "cover", "cover")
_HELD = Check("verify_held", "held", "quantity held of contract")
_PARTS = Check("verify_parts", "parts", "weight of the parts of order")
_LINE = Check("verify_line_orders", "line", "line's record of order")
_EXECUTED = Check("verify_cover_executions", "cover", "executions of cover")
_UNDER_WAY = Check("verify_under_way", "plan", "plan of the hedge book, cover")
_EACH = Check("verify_book_words", "hedge_book", "venue's word for the entry of order")
_LISTED_MAX = 1_000
_BATCH = 1_000


async def hedge_book_differences(transaction: Transaction) -> list[Found]:
    """Also of orders that were covered one by one, and of lines."""
    found: list[Found] = []
    for row in await transaction.all("verify_book_sums"):
        found += [each async for each in _position(transaction, row)]
        found += [each async for each in _money(transaction, row)]
        found += [each async for each in history_differences(transaction, row["broker"], row["metal"])]
    for check in (_COVER, _EXECUTED, _UNDER_WAY, _HELD, _PARTS, _LINE, _EACH):
        for row in await transaction.all(check.query, _LISTED_MAX):
            found.append((check, Owner(row["broker"]), row["name"], row["stored"], row["recomputed"]))
    return found


async def _position(transaction: Transaction, row: Row) -> AsyncIterator[Found]:
    """A position is the sum of its entries. They are as many as the deals and the fills of covers say."""
    broker, metal = row["broker"], row["metal"]
    for what, stored, recomputed in (
        ("entries", row["version"], row["entries"]),
        ("mg of clients by entries", row["client_mg"], row["entered_client_mg"]),
        ("mg of clients by orders", row["client_mg"], await clients_mg(transaction, broker, metal)),
        ("mg of covers by entries", row["cover_mg"], row["entered_cover_mg"]),
        ("mg of fills", row["entered_fills_mg"], row["fills_mg"]),
    ):
        if stored != recomputed:
            yield _POSITION, Owner(broker), f"{metal}, {what}", stored, recomputed


async def _money(transaction: Transaction, row: Row) -> AsyncIterator[Found]:
    """Every day that was kept is what a count from the first entry gives. The end of it is the residual."""
    owner, metal = Owner(row["broker"]), row["metal"]
    name = (row["broker"], metal)
    money = BookMoney()
    try:
        kept = {
            (mark.money.ordinal, mark.money.currency_no): mark
            for mark in map(day_mark, await transaction.all("cover_marks_of_book", *name))
        }
        while steps := await money_steps(transaction, name, money, _BATCH):
            for _, money in steps:
                mark = kept.pop((money.ordinal, money.currency_no), None)
                if mark is not None:
                    for field, stored, recomputed in _differing(mark.money, money):
                        yield _MONEY, owner, f"{metal} on {mark.day}, {field}", stored, recomputed
    except BrokenBook as broken:
        yield _MONEY, owner, metal, str(broken), "every entry has its order or fill"
        return
    for mark in kept.values():
        yield _MONEY, owner, f"{metal} on {mark.day}, last entry", mark.money.ordinal, money.ordinal
    residual_mg = row["client_mg"] + row["cover_mg"]
    if money.book.metal.amount != residual_mg:
        yield _MONEY, owner, f"{metal}, residual in mg", residual_mg, money.book.metal.amount


def _differing(stored: BookMoney, recomputed: BookMoney) -> Iterator[tuple[str, object, object]]:
    """The parts of the profit that differ."""
    for field in recomputed.book.__struct_fields__:
        ours, theirs = getattr(stored.book, field), getattr(recomputed.book, field)
        if ours != theirs:
            yield field, ours, theirs
    if (stored.estimated, stored.dollar_e6) != (recomputed.estimated, recomputed.dollar_e6):
        yield "estimated deals and last dollar", stored.estimated, recomputed.estimated
