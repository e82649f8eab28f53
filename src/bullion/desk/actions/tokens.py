"""Desk tokens and their roles."""

from bullion.desk.bodies import TokenBody
from bullion.desk.desk import ChangeResult, Desk, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.desk.unreadable import read_or_unreadable, view_of
from bullion.orders.instant import instant_text
from bullion.records.page import Page
from bullion.records.token import Actor, Role, Token, new_token_id, new_token_secret, write_token
from bullion.refusals.desk import NOT_FOUND, ROLE_TOO_LOW
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records
from bullion.unreadable import Unreadable, UnreadableRow


@action(
    "POST /tokens",
    Role.ADMIN,
    audit_text="created a desk token",
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
        return ChangeResult(None, view(token), {**view(token), "token": write_token(token_id, secret)})

    return await desk.change(actor, f"{body.name} {token_id}", work, broker=broker)


@action("GET /tokens", command="tokens list", columns="token_id name role created_at deleted_at")
async def list_tokens(desk: Desk, actor: Actor, page: Page) -> tuple[list[View], int]:
    """List the desk tokens, without their secrets."""
    listed, total = await desk.read(actor, "tokens", lambda records: records.tokens(actor.broker, page))
    return [view_of(token, view) for token in listed], total


@action(
    "DELETE /tokens/{token_id}",
    Role.ADMIN,
    audit_text="deleted a desk token",
    command="tokens delete",
    question="Delete the token {token_id}? Its user is locked out immediately.",
)
async def delete_token(desk: Desk, actor: Actor, token_id: str) -> View:
    """Delete a desk token. It stops working immediately."""
    # Deleting twice does no harm.

    async def work(records: Records) -> ChangeResult:
        before = await read_or_unreadable(_find(records, actor, token_id))
        if isinstance(before, Unreadable):
            await records.repair_token(token_id)
        elif before.deleted_at_us is None:
            await records.delete_token(token_id, await records.now_us())
        return ChangeResult(view_of(before, view), view(await _find(records, actor, token_id)))

    return await desk.change(actor, token_id, work)


async def _find(records: Records, actor: Actor, token_id: str) -> Token:
    token = await read_or_unreadable(records.token(token_id))
    if token is None or token.broker != actor.broker:
        raise RefusalError(NOT_FOUND, "There is no such token on this broker.")
    if isinstance(token, Unreadable):
        raise UnreadableRow(token)
    return token


def view(token: Token) -> View:
    return {
        "token_id": token.token_id,
        "broker": token.broker,
        "name": token.name,
        "role": token.role.value,
        "created_at": instant_text(token.created_at_us),
        "deleted_at": None if token.deleted_at_us is None else instant_text(token.deleted_at_us),
    }
