"""Desk tokens and their roles."""

from dataclasses import replace

from bullion.desk.audit_wording.people import (
    tell_about_user,
    tell_changed_user,
    tell_ended_sessions,
    tell_new_user,
)
from bullion.desk.bodies import TokenBody, TokenChangesBody
from bullion.desk.conversion import Changes
from bullion.desk.desk import ChangeResult, Desk, OnlyIf, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.desk.unreadable import read_or_unreadable, view_of
from bullion.orders.instant import instant_text
from bullion.records.page import Page
from bullion.records.token import (
    Actor,
    Role,
    Token,
    UsedToken,
    new_token_id,
    new_token_secret,
    write_token,
)
from bullion.refusals.desk import CONFLICT, NOT_FOUND, ROLE_TOO_LOW
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records
from bullion.unreadable import Unreadable, UnreadableRow


@action(
    "POST /tokens",
    Role.ADMIN,
    audit_text="created a desk token",
    tell=tell_new_user,
    status=201,
    command="tokens create",
    shown_once="token",
)
async def create_token(desk: Desk, actor: Actor, body: TokenBody) -> View:
    """Create a desk token for NAME. It is shown only once."""
    broker = body.broker or actor.broker
    if broker != actor.broker and not actor.first:
        raise RefusalError(
            ROLE_TOO_LOW, "A token acts for its own broker only. Leave broker out, or name your own."
        )
    token_id, secret = new_token_id(), new_token_secret()

    async def work(records: Records) -> ChangeResult:
        if await read_or_unreadable(records.broker(broker)) is None:
            raise invalid_field(("broker",), f"there is no broker {broker}")
        token = Token(
            token_id=token_id,
            broker=broker,
            name=body.name,
            role=Role(body.role),
            secret_hash=desk.token_hasher.hash(secret.encode("ascii")),
            created_at_us=await records.now_us(),
        )
        await records.insert_token(token, desk.token_hasher.secret_id)
        answer = {**used_view(UsedToken(token, None, 0)), "token": write_token(token_id, secret)}
        return ChangeResult(None, view(token), answer)

    return await desk.change(actor, f"{body.name} {token_id}", work, broker=broker)


@action(
    "GET /tokens",
    command="tokens list",
    columns="token_id name role created_at last_used_at second_factor sessions deleted_at",
)
async def list_tokens(desk: Desk, actor: Actor, page: Page) -> tuple[list[View], int]:
    """List the desk tokens, without their secrets."""
    listed, total = await desk.read(actor, "tokens", lambda records: records.tokens(actor.broker, page))
    return [view_of(token, used_view) for token in listed], total


async def get_token(desk: Desk, actor: Actor, token_id: str) -> View:
    return used_view(await desk.read(actor, "token", lambda records: find_token(records, actor, token_id)))


@action(
    "PATCH /tokens/{token_id}",
    Role.ADMIN,
    audit_text="changed a desk token",
    tell=tell_changed_user,
    command="tokens set",
)
async def patch_token(
    desk: Desk,
    actor: Actor,
    token_id: str,
    changes: Changes[TokenChangesBody],
    *,
    only_if: OnlyIf | None = None,
) -> View:
    """Change the name or the role of a desk token. Another role ends its sessions in the console."""

    async def work(records: Records) -> ChangeResult:
        before = (await find_token(records, actor, token_id)).token
        if before.deleted_at_us is not None:
            raise RefusalError(CONFLICT, "This token was deleted. Create another one.")
        body = changes.applied_to({"name": before.name, "role": before.role.value})
        after = replace(before, name=body.name, role=Role(body.role))
        await records.update_token(after)
        if after.role is not before.role:
            await records.delete_user_sessions(token_id)
        answer = used_view(await find_token(records, actor, token_id))
        return ChangeResult(view(before), view(after), answer)

    return await desk.change(actor, token_id, work, only_if=only_if)


@action(
    "DELETE /tokens/{token_id}/sessions",
    Role.ADMIN,
    audit_text="ended the sessions of a desk token",
    tell=tell_ended_sessions,
    command="tokens end-sessions",
    question="End all sessions of the token {token_id} in the console? Its user has to log in again.",
)
async def end_token_sessions(desk: Desk, actor: Actor, token_id: str) -> View:
    """End all sessions of a desk token in the console. The token itself stays valid."""

    async def work(records: Records) -> ChangeResult:
        before = await find_token(records, actor, token_id)
        await records.delete_user_sessions(token_id)
        after = await find_token(records, actor, token_id)
        return ChangeResult({"sessions": before.sessions}, {"sessions": after.sessions}, used_view(after))

    return await desk.change(actor, token_id, work, catalogue=False)


@action(
    "DELETE /tokens/{token_id}",
    Role.ADMIN,
    audit_text="deleted a desk token",
    tell=tell_about_user("deleted"),
    command="tokens delete",
    question="Delete the token {token_id}? Its user is locked out immediately.",
)
async def delete_token(desk: Desk, actor: Actor, token_id: str) -> View:
    """Delete a desk token. It stops working immediately, and its sessions in the console end."""
    # Deleting twice does no harm.

    async def work(records: Records) -> ChangeResult:
        before = await read_or_unreadable(find_token(records, actor, token_id))
        if isinstance(before, Unreadable):
            await records.repair_token(token_id)
        elif before.token.deleted_at_us is None:
            await records.delete_token(token_id, await records.now_us())
        await records.delete_user_sessions(token_id)
        await records.delete_second_factor(token_id)
        after = await find_token(records, actor, token_id)
        return ChangeResult(
            view_of(before, lambda found: view(found.token)), view(after.token), used_view(after)
        )

    return await desk.change(actor, token_id, work)


async def find_token(records: Records, actor: Actor, token_id: str) -> UsedToken:
    found = await read_or_unreadable(records.used_token(token_id))
    broker = found.token.broker if isinstance(found, UsedToken) else found and found.broker
    if found is None or broker != actor.broker:
        raise RefusalError(NOT_FOUND, "There is no such token on this broker.")
    if isinstance(found, Unreadable):
        raise UnreadableRow(found)
    return found


def view(token: Token) -> View:
    return {
        "token_id": token.token_id,
        "broker": token.broker,
        "name": token.name,
        "role": token.role.value,
        "created_at": instant_text(token.created_at_us),
        "deleted_at": None if token.deleted_at_us is None else instant_text(token.deleted_at_us),
    }


def used_view(found: UsedToken) -> View:
    """With what changes by use, which the audit trail does not record."""
    used = found.used_at_us
    return {
        **view(found.token),
        "last_used_at": None if used is None else instant_text(used),
        "sessions": found.sessions,
        "second_factor": found.second_factor,
    }
