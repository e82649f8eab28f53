"""Resets a client's test book, without deleting anything."""

from bullion.allocation.book import Book
from bullion.desk.audit_wording.people import tell_reset
from bullion.desk.desk import ChangeResult, Desk, View
from bullion.desk.registry import action
from bullion.environment import Environment
from bullion.metals.weight import weight_text
from bullion.records.token import Actor, Role
from bullion.store.records import Records

from .accounts import find_client


@action(
    "POST /accounts/{login_id}/test-book/reset",
    Role.DEALER,
    audit_text="reset a test book",
    tell=tell_reset,
    command="accounts reset-test-book",
    question="Reset the test book of {login_id}? Its test orders are archived, and leave its list and "
    "positions. This cannot be undone.",
)
async def reset_test_book(desk: Desk, actor: Actor, login_id: str) -> View:
    """Archive the test orders of an account.

    They no longer count in its list and positions. They can still be read by their ids, their idempotency
    keys stay used, and the T- numbers continue. The account's keys do not change.
    """

    async def work(records: Records) -> ChangeResult:
        client = await find_client(records, actor.broker, login_id)
        before = await records.lock_book(client.account.id, Environment.TEST)
        await records.reset_book(before)
        after = await records.lock_book(client.account.id, Environment.TEST)
        return ChangeResult(view(login_id, before), view(login_id, after))

    return await desk.change(actor, login_id, work)


def view(login_id: str, book: Book) -> View:
    return {
        "login_id": login_id,
        "environment": Environment.TEST.value,
        "orders": book.order_count - book.archived_count,
        "archived_orders": book.archived_count,
        "net": {"gold": weight_text(book.gold.net_e4), "silver": weight_text(book.silver.net_e4)},
    }
