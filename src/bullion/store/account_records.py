"""Account summaries: found by a part of a name, with books and key counts."""

from collections.abc import Collection, Sequence

import msgspec

from bullion.allocation.book import Book, book_id
from bullion.environment import Environment
from bullion.records.clients import AccountSummary, KeyTimes
from bullion.unreadable import Unreadable

from . import order_rows, row_decoders
from .desk_transaction import DeskTransaction
from .engine import Row

_encode = msgspec.json.Encoder().encode

_BOOKS = (("test", Environment.TEST), ("live", Environment.PRODUCTION))
_OF_BOOK = (
    *("gold_net_e4", "gold_limit_e4", "silver_net_e4", "silver_limit_e4"),
    *("order_count", "archived_count", "last_order_at_us", "version"),
)


class AccountRecords(DeskTransaction):
    async def account_summaries(
        self, broker: str, search: str | None, after: str, times: KeyTimes, limit: int
    ) -> list[AccountSummary | Unreadable]:
        """Accounts after a login, in the order of logins, whose login or firm contains the text."""
        if search is None:
            page = await self._transaction.all("account_ids_after", broker, after, limit)
            ids: Sequence[int] = [row["id"] for row in page]
        else:
            ids = await self._cache.names.find(self._transaction, broker, search, after, limit)
        return await self._summaries(ids, times)

    async def account_summaries_by_use(
        self, broker: str, times: KeyTimes, limit: int, offset: int
    ) -> list[AccountSummary | Unreadable]:
        """All accounts, those with the newest order first."""
        page = await self._transaction.all("account_ids_by_use", broker, limit, offset)
        return await self._summaries([row["id"] for row in page], times)

    async def _summaries(self, ids: Sequence[int], times: KeyTimes) -> list[AccountSummary | Unreadable]:
        wanted = _encode(ids).decode()
        found = await self._transaction.all("account_summaries", wanted, times.now_us, times.soon_us)
        by_id = {row["id"]: _summary(row) for row in found}
        return [by_id[each] for each in ids if each in by_id]

    async def firm_names(self, broker: str, login_ids: Collection[str]) -> dict[str, str | None]:
        """The firms of these accounts, by login; None for an account without a firm's name."""
        found = await self._transaction.all("firm_names", broker, _encode(sorted(login_ids)).decode())
        return {row["login_id"]: row["firm_name"] for row in found}

    async def books(self, account_id: int) -> dict[Environment, Book]:
        found = await self._transaction.all("books_of_account", account_id)
        return {Environment(row["environment"]): order_rows.book(row) for row in found}


def part_of(text: str | None) -> str | None:
    """A LIKE pattern for texts that contain this one. A NUL, which PostgreSQL rejects, matches nothing."""
    if text is None:
        return None
    plain = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return "%" + plain.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"


def _summary(row: Row) -> AccountSummary | Unreadable:
    account, unreadable = row_decoders.account(row)
    if unreadable is not None:
        return unreadable
    books = {}
    for prefix, environment in _BOOKS:
        of_book = [row[f"{prefix}_{name}"] for name in _OF_BOOK]
        books[environment] = order_rows.book_of(book_id(account.id, environment), *of_book)
    return AccountSummary(account, row["created_at_us"], books, row["working_keys"], row["expiring_keys"])
