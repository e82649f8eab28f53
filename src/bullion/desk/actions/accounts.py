"""Clients' accounts, their switches and their allocation."""

from collections.abc import Callable

import msgspec
from msgspec.structs import fields, replace

from bullion.accounts.account import Account
from bullion.desk.audit_wording.people import tell_account
from bullion.desk.bodies import AccountBody, NewAccountBody
from bullion.desk.conversion import Changes, convert
from bullion.desk.desk import ChangeResult, Desk, OnlyIf, View
from bullion.desk.price_guard import account_prices
from bullion.desk.price_snapshot import read_snapshot
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.desk.unreadable import read_or_unreadable, unreadable_view, view_of
from bullion.faults import AlreadyExists
from bullion.metals.weight import weight_e4, weight_text
from bullion.orders.instant import instant_text
from bullion.records.clients import Allocation, Client
from bullion.records.page import Page
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records
from bullion.unreadable import Unreadable

_encode = msgspec.json.Encoder(order="sorted").encode


@action(
    "POST /accounts",
    Role.ADMIN,
    audit_text="created an account",
    tell=tell_account,
    status=201,
    command="accounts create",
)
async def create_account(desk: Desk, actor: Actor, body: NewAccountBody) -> View:
    """Create the account LOGIN_ID."""
    new = Account(id=0, broker=actor.broker, login_id=body.login_id, **settings_of(body))
    allocation = _allocation(body)

    async def work(records: Records) -> ChangeResult:
        await _require_group(records, actor.broker, body.group)
        before = await read_or_unreadable(records.client(actor.broker, new.login_id))
        if isinstance(before, Unreadable):  # Its row is replaced; its books, orders and keys stay.
            await records.repair_account(actor.broker, new.login_id)
            held = await find_client(records, actor.broker, new.login_id)
            await records.update_account(replace(held.account, **settings_of(body)))
            await records.set_allocation(held.account.id, allocation)
            after = await find_client(records, actor.broker, new.login_id)
            return ChangeResult(unreadable_view(before), view(after))
        try:
            await records.insert_account(new, allocation)
        except AlreadyExists:
            raise RefusalError(CONFLICT, f"There is an account {new.login_id} already.") from None
        return ChangeResult(None, view(await find_client(records, actor.broker, new.login_id)))

    return await desk.change(actor, body.login_id, work)


async def _undo(records: Records, broker: str, login_id: str, earlier: View) -> ChangeResult:
    return await _change(records, broker, login_id, lambda _: convert(_settable(earlier), AccountBody))


@action(
    "PATCH /accounts/{login_id}",
    Role.ADMIN,
    audit_text="changed an account",
    tell=tell_account,
    command="accounts set",
    moves_prices=["group"],
    undo=_undo,
)
async def patch_account(
    desk: Desk, actor: Actor, login_id: str, changes: Changes[AccountBody], *, only_if: OnlyIf | None = None
) -> View:
    """Change single fields of an account. Another group may move the prices that the client pays.

    \b
    Examples:
      bullion desk accounts set aurum allocation.gold=1500
      bullion desk accounts set aurum api_access=false
    """

    async def work(records: Records) -> ChangeResult:
        return await _change(records, actor.broker, login_id, changes.applied_to)

    return await desk.change(actor, login_id, work, only_if=only_if)


async def _change(
    records: Records, broker: str, login_id: str, applied: Callable[[View], AccountBody]
) -> ChangeResult:
    before = await find_client(records, broker, login_id)
    body = applied(_settable(view(before)))
    await _require_group(records, broker, body.group)
    await records.update_account(replace(before.account, **settings_of(body)))
    allocation = _allocation(body)
    if allocation != before.allocation:
        await records.set_allocation(before.account.id, allocation)
    old_group, prices, starts_from = before.account.group, [], ""
    if body.group != old_group:
        snapshot = await read_snapshot(records, broker)
        prices = account_prices(snapshot, login_id, old_group, body.group)
        starts_from = _encode(snapshot.groups.get(body.group)).decode()
    after = view(await find_client(records, broker, login_id))
    return ChangeResult(view(before), after, prices=prices, starts_from=starts_from)


def _settable(shown: View) -> View:
    """The fields of an account's view that can be changed."""
    return {name: shown[name] for name in (*_SETTINGS, "allocation")}


@action("GET /accounts/{login_id}", command="accounts show")
async def get_account(desk: Desk, actor: Actor, login_id: str) -> View:
    """Show one account."""
    return view(
        await desk.read(actor, "account", lambda records: find_client(records, actor.broker, login_id))
    )


@action(
    "GET /accounts",
    command="accounts list",
    columns="login_id firm_name group active api_access production_trading scenarios "
    "allocation.gold allocation.silver",
)
async def list_accounts(desk: Desk, actor: Actor, page: Page) -> tuple[list[View], int]:
    """List the accounts."""
    listed, total = await desk.read(actor, "accounts", lambda records: records.clients(actor.broker, page))
    return [view_of(client, view) for client in listed], total


async def find_client(records: Records, broker: str, login_id: str) -> Client:
    client = await records.client(broker, login_id)
    if client is None:
        raise RefusalError(NOT_FOUND, "There is no such account on this broker.")
    return client


async def _require_group(records: Records, broker: str, code: str) -> None:
    if await read_or_unreadable(records.group(broker, code)) is None:
        raise invalid_field(("group",), f"there is no group {code}; create it first")


_SETTINGS = [each.name for each in fields(AccountBody) if each.name != "allocation"]


def settings_of(held: Account | AccountBody) -> View:
    """The fields of the account itself, without its allocation."""
    return {name: getattr(held, name) for name in _SETTINGS}


def _allocation(body: AccountBody) -> Allocation:
    return Allocation(weight_e4(body.allocation.gold), weight_e4(body.allocation.silver))


def view(client: Client) -> View:
    account = client.account
    return {
        "login_id": account.login_id,
        **settings_of(account),
        "allocation": {
            "gold": weight_text(client.allocation.gold_e4),
            "silver": weight_text(client.allocation.silver_e4),
        },
        "created_at": instant_text(client.created_at_us),
    }
