"""Account summaries: found by a part of a name, with allocation, positions and keys."""

from bullion.allocation.book import Book
from bullion.desk.desk import Desk, View
from bullion.desk.unreadable import view_of
from bullion.environment import Environment
from bullion.metals.metal import Metal
from bullion.metals.weight import weight_text
from bullion.orders.instant import instant_text
from bullion.records.clients import AccountSummary, KeyTimes
from bullion.records.token import Actor
from bullion.store.records import Records
from bullion.unreadable import Unreadable

from . import accounts

SOON_S = 14 * 86_400
"""A key that expires within this time expires soon."""
_US_PER_S = 1_000_000


async def list_account_summaries(
    desk: Desk, actor: Actor, search: str | None, after: str, limit: int
) -> tuple[list[View], bool]:
    """Accounts after a login whose login or firm contains the text; and whether there are more."""

    async def work(records: Records) -> list[AccountSummary | Unreadable]:
        times = await _key_times(records)
        return await records.account_summaries(actor.broker, search or None, after, times, limit + 1)

    found = await desk.read(actor, "accounts_overseen", work)
    return [view_of(each, _view) for each in found[:limit]], len(found) > limit


async def list_accounts_by_use(desk: Desk, actor: Actor, limit: int, offset: int) -> tuple[list[View], bool]:
    """Accounts, those with the newest order first; and whether there are more."""

    async def work(records: Records) -> list[AccountSummary | Unreadable]:
        times = await _key_times(records)
        return await records.account_summaries_by_use(actor.broker, times, limit + 1, offset)

    found = await desk.read(actor, "accounts_by_use", work)
    return [view_of(each, _view) for each in found[:limit]], len(found) > limit


async def _key_times(records: Records) -> KeyTimes:
    now_us = await records.now_us()
    return KeyTimes(now_us, now_us + SOON_S * _US_PER_S)


async def get_account_summary(desk: Desk, actor: Actor, login_id: str) -> View:
    """One account with its books."""

    async def work(records: Records) -> View:
        client = await accounts.find_client(records, actor.broker, login_id)
        books = await records.books(client.account.id)
        return {**accounts.view(client), "books": _books(books)}

    return await desk.read(actor, "account_overseen", work)


def _view(each: AccountSummary) -> View:
    account = each.account
    return {
        "login_id": account.login_id,
        **accounts.settings_of(account),
        "books": _books(each.books),
        "keys": each.keys,
        "keys_expiring": each.keys_expiring,
    }


def _books(books: dict[Environment, Book]) -> View:
    return {environment.value: _book(book) for environment, book in books.items()}


def _book(book: Book) -> View:
    return {
        "orders": book.order_count - book.archived_count,
        "archived_orders": book.archived_count,
        "last_order_at": instant_text(book.last_order_at_us) if book.last_order_at_us else None,
        **{metal.value: _position(book, metal) for metal in Metal},
    }


def _position(book: Book, metal: Metal) -> View:
    position = book.position(metal)
    return {
        "unit": metal.unit,
        "net": weight_text(position.net_e4),
        "used": weight_text(position.used_e4),
        "free": weight_text(position.free_e4),
        "limit": weight_text(position.limit_e4),
        "percent": _percent(position.used_e4, position.limit_e4),
    }


def _percent(used_e4: int, limit_e4: int) -> int:
    """Rounded up, so that only a full bar shows 100; above 100 if the allocation was reduced below it."""
    if used_e4 == 0:
        return 0
    return 101 if limit_e4 == 0 else -(-used_e4 * 100 // limit_e4)
