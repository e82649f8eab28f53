"""Issues, rotates and revokes clients' API keys. A secret is shown only once, when it is created."""

import msgspec
from msgspec.structs import replace

from bullion.allocation.book import first_account_id
from bullion.desk import texts
from bullion.desk.audit_wording.people import tell_issue, tell_revoke, tell_rotate
from bullion.desk.bodies import KeyBody, RotateBody
from bullion.desk.desk import ChangeResult, Desk, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.desk.unreadable import read_or_unreadable, view_of
from bullion.environment import Environment
from bullion.faults import AlreadyExists
from bullion.keys.issuer import NewKey
from bullion.keys.key import Key, Network, Scope, scope_names
from bullion.keys.text import write_key
from bullion.orders.instant import instant_text
from bullion.records.clients import UsedKey
from bullion.records.page import Page
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records
from bullion.unreadable import Unreadable

from .accounts import find_client

_US_PER_S = 1_000_000


@action(
    "POST /accounts/{login_id}/keys",
    Role.ADMIN,
    audit_text="issued a key",
    tell=tell_issue,
    status=201,
    command="keys issue",
    shown_once="key",
)
async def issue_key(
    desk: Desk, actor: Actor, login_id: str, body: KeyBody, *, new: NewKey | None = None
) -> View:
    """Issue a key to an account. Its secret is shown only once."""
    # Only the demo hands in a key's id and secret.
    if new is None:
        found = await desk.read(actor, "client", lambda records: find_client(records, actor.broker, login_id))
        new = desk.key_issuer.new_key(first_account_id(found.account.id))
    issued = new
    expires_at_us = None if body.expires_at is None else texts.instant_us(body.expires_at)

    async def work(records: Records) -> ChangeResult:
        client = await find_client(records, actor.broker, login_id)
        now_us = await records.now_us()
        _require_future(expires_at_us, now_us)
        key = Key(
            key_id=issued.key_id,
            broker=actor.broker,
            account_id=client.account.id,
            environment=Environment(body.environment),
            name=body.name,
            scopes=frozenset(Scope(scope) for scope in body.scopes),
            secret_hash=desk.key_issuer.secret_hash(issued.secret),
            allowed_addresses=_networks(body.allowed_addresses),
            created_at_us=now_us,
            expires_at_us=expires_at_us,
        )
        shown = view(UsedKey(key, login_id, None))
        return ChangeResult(None, shown, {**shown, "key": await _insert(desk, records, key, issued)})

    return await desk.change(actor, f"{login_id} {issued.key_id}", work)


@action(
    "POST /keys/{key_id}/rotate",
    Role.ADMIN,
    audit_text="rotated a key",
    tell=tell_rotate,
    status=201,
    command="keys rotate",
    shown_once="key",
)
async def rotate_key(desk: Desk, actor: Actor, key_id: str, body: RotateBody) -> View:
    """Replace a key with a new one. Both work until the overlap ends."""

    async def work(records: Records) -> ChangeResult:
        used = await _find(records, actor.broker, key_id)
        old = used.key
        if old.revoked_at_us is not None:
            raise RefusalError(CONFLICT, "This key is revoked. Issue a new one instead.")
        if old.replaced_by is not None:
            raise RefusalError(CONFLICT, f"This key was rotated already; its successor is {old.replaced_by}.")
        now_us = await records.now_us()
        new = desk.key_issuer.new_key(first_account_id(old.account_id))
        successor = replace(
            _changed(old, body, now_us),
            key_id=new.key_id,
            secret_hash=desk.key_issuer.secret_hash(new.secret),
            created_at_us=now_us,
        )
        text = await _insert(desk, records, successor, new)
        await records.replace_key(old, new.key_id, now_us + body.overlap_s * _US_PER_S)
        shown = view(UsedKey(successor, used.login_id, None))
        replaced = view(await _find(records, actor.broker, key_id))
        return ChangeResult(view(used), {"replaced": replaced, "successor": shown}, {**shown, "key": text})

    return await desk.change(actor, key_id, work)


async def _insert(desk: Desk, records: Records, key: Key, new: NewKey) -> str:
    """Give the text of the key, which is not stored."""
    try:
        await records.insert_key(key, desk.key_issuer.secret_id)
    except AlreadyExists:
        raise RefusalError(CONFLICT, "The random id of the new key is in use. Try again.") from None
    return write_key(key.environment, key.broker, key.key_id, new.secret)


def _changed(old: Key, body: RotateBody, now_us: int) -> Key:
    """The old key with the fields that the desk changes."""
    key = old
    if body.name is not msgspec.UNSET:
        key = replace(key, name=body.name)
    if body.scopes is not msgspec.UNSET:
        key = replace(key, scopes=frozenset(Scope(scope) for scope in body.scopes))
    if body.allowed_addresses is not msgspec.UNSET:
        key = replace(key, allowed_addresses=_networks(body.allowed_addresses))
    if body.expires_at is not msgspec.UNSET:
        expires_at_us = None if body.expires_at is None else texts.instant_us(body.expires_at)
        key = replace(key, expires_at_us=expires_at_us)
    _require_future(key.expires_at_us, now_us)
    return key


def _networks(sent: list[str]) -> tuple[Network, ...]:
    return tuple(texts.network(text) for text in sent)


def _require_future(expires_at_us: int | None, now_us: int) -> None:
    if expires_at_us is not None and expires_at_us <= now_us:
        raise invalid_field(("expires_at",), "is in the past; name a later time, or null for no expiry")


@action(
    "POST /keys/{key_id}/revoke",
    Role.ADMIN,
    audit_text="revoked a key",
    tell=tell_revoke,
    command="keys revoke",
    question="Revoke {key_id}? Programs that use it are refused immediately. This cannot be undone.",
)
async def revoke_key(desk: Desk, actor: Actor, key_id: str) -> View:
    """Revoke a key immediately. This cannot be undone."""
    # Revoking twice does no harm. One that cannot be read becomes a revoked one.

    async def work(records: Records) -> ChangeResult:
        before = await read_or_unreadable(_find(records, actor.broker, key_id))
        if isinstance(before, Unreadable):
            await records.repair_key(actor.broker, key_id)
        elif before.key.revoked_at_us is None:
            await records.revoke_key(before.key, await records.now_us())
        return ChangeResult(view_of(before, view), view(await _find(records, actor.broker, key_id)))

    return await desk.change(actor, key_id, work)


@action(
    "GET /accounts/{login_id}/keys",
    command="keys list",
    columns="key_id environment name scopes last_used_at expires_at revoked_at replaced_by",
)
async def list_keys(desk: Desk, actor: Actor, login_id: str, page: Page) -> tuple[list[View], int]:
    """List the keys of an account, without their secrets."""

    async def work(records: Records) -> tuple[list[UsedKey | Unreadable], int]:
        client = await find_client(records, actor.broker, login_id)
        return await records.keys(client.account.id, page)

    listed, total = await desk.read(actor, "keys", work)
    return [view_of(used, view) for used in listed], total


async def get_key(desk: Desk, actor: Actor, key_id: str) -> View:
    return view(await desk.read(actor, "key", lambda records: _find(records, actor.broker, key_id)))


async def _find(records: Records, broker: str, key_id: str) -> UsedKey:
    used = await records.key(broker, key_id)
    if used is None:
        raise RefusalError(NOT_FOUND, "There is no such key on this broker.")
    return used


def view(used: UsedKey) -> View:
    key = used.key

    def instant(at_us: int | None) -> str | None:
        return None if at_us is None else instant_text(at_us)

    return {
        "key_id": key.key_id,
        "login_id": used.login_id,
        "environment": key.environment.value,
        "name": key.name,
        "scopes": list(scope_names(key.scopes)),
        "allowed_addresses": [str(network) for network in key.allowed_addresses],
        "created_at": instant_text(key.created_at_us),
        "expires_at": instant(key.expires_at_us),
        "revoked_at": instant(key.revoked_at_us),
        "replaced_by": key.replaced_by,
        "overlap_ends_at": instant(key.overlap_ends_at_us),
        "last_used_at": instant(used.last_used_at_us),
    }
