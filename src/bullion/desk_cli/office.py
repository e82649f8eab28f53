"""Commands for the desk itself: its tokens and its audit trail."""

import click

from bullion.desk import bodies, conversion
from bullion.desk.actions import audit, tokens
from bullion.desk.desk import Desk, View
from bullion.records.page import Page
from bullion.records.token import Actor, Role

from .session import Session, confirm, limit_option, offset_option, pass_session, yes_option
from .tables import print_list, print_one, print_secret


@click.group("tokens")
def tokens_group() -> None:
    """Who may work at the desk, and in which role."""


@tokens_group.command("list")
@limit_option
@offset_option
@pass_session
def _tokens_list(session: Session, limit: int, offset: int) -> None:
    """List the desk tokens; never their secrets."""
    found = session.run(lambda desk, actor: tokens.list_tokens(desk, actor, Page(limit, offset)))
    print_list(found, ["token_id", "name", "role", "created_at", "deleted_at"], as_json=session.as_json)


@tokens_group.command("create")
@click.argument("name")
@click.option("--role", type=click.Choice([role.value for role in Role]), required=True)
@pass_session
def _tokens_create(session: Session, name: str, role: str) -> None:
    """Make a desk token for NAME. It is shown now and never again."""

    async def work(desk: Desk, actor: Actor) -> View:
        body = conversion.convert({"name": name, "role": role}, bodies.TokenBody)
        return await tokens.create_token(desk, actor, body)

    print_secret(session.run(work), "token", as_json=session.as_json)


@tokens_group.command("delete")
@click.argument("token_id")
@yes_option
@pass_session
def _tokens_delete(session: Session, token_id: str, yes: bool) -> None:
    """Delete a desk token; it stops working at once."""
    confirm(f"Delete the token {token_id}? Whoever uses it is locked out from now on.", yes=yes)
    print_one(
        session.run(lambda desk, actor: tokens.delete_token(desk, actor, token_id)), as_json=session.as_json
    )


@click.group("audit")
def audit_group() -> None:
    """Who did what. `bullion audit verify` checks that the trail is whole."""


@audit_group.command("list")
@limit_option
@offset_option
@pass_session
def _audit_list(session: Session, limit: int, offset: int) -> None:
    """List the audit trail, newest first."""
    found = session.run(lambda desk, actor: audit.list_audit(desk, actor, Page(limit, offset)))
    print_list(found, ["ordinal", "at", "actor", "action", "subject"], as_json=session.as_json)
