"""Commands for clients: their accounts and their keys."""

import click

from bullion.desk import bodies, conversion
from bullion.desk.actions import accounts, book_reset, keys
from bullion.desk.bodies import AccountBody
from bullion.desk.desk import Desk, View
from bullion.keys.key import Scope
from bullion.records.page import Page
from bullion.records.token import Actor

from .assignments import assigned
from .session import Session, confirm, limit_option, offset_option, pass_session, yes_option
from .tables import print_list, print_one, print_secret


@click.group("accounts")
def accounts_group() -> None:
    """Clients' accounts, their switches and their allocation."""


@accounts_group.command("list")
@limit_option
@offset_option
@pass_session
def _accounts_list(session: Session, limit: int, offset: int) -> None:
    """List the accounts."""
    columns = ["login_id", "firm_name", "group", "active", "api_access", "production_trading", "scenarios"]
    found = session.run(lambda desk, actor: accounts.list_accounts(desk, actor, Page(limit, offset)))
    print_list(found, [*columns, "allocation.gold", "allocation.silver"], as_json=session.as_json)


@accounts_group.command("show")
@click.argument("login_id")
@pass_session
def _accounts_show(session: Session, login_id: str) -> None:
    """Show one account."""
    print_one(
        session.run(lambda desk, actor: accounts.get_account(desk, actor, login_id)), as_json=session.as_json
    )


@accounts_group.command("create")
@click.argument("login_id")
@click.option("--group", required=True, help="The trading group.")
@click.option("--firm", "firm_name", help="The firm's name.")
@click.option("--gold", default="0", show_default=True, help="Allocation in grams.")
@click.option("--silver", default="0", show_default=True, help="Allocation in kilograms.")
@click.option("--no-api", is_flag=True, help="Leave API access off.")
@click.option("--production", is_flag=True, help="Enable production trading for the account.")
@click.option("--scenarios", is_flag=True, help="Let it ask the test environment for made-up answers.")
@pass_session
def _accounts_create(
    session: Session,
    login_id: str,
    group: str,
    firm_name: str | None,
    gold: str,
    silver: str,
    no_api: bool,
    production: bool,
    scenarios: bool,
) -> None:
    """Open the account LOGIN_ID."""
    fields = {
        "login_id": login_id,
        "group": group,
        "firm_name": firm_name,
        "api_access": not no_api,
        "production_trading": production,
        "scenarios": scenarios,
        "allocation": {"gold": gold, "silver": silver},
    }

    async def work(desk: Desk, actor: Actor) -> View:
        body = conversion.convert(fields, bodies.NewAccountBody)
        return await accounts.create_account(desk, actor, body)

    print_one(session.run(work), as_json=session.as_json)


@accounts_group.command("set")
@click.argument("login_id")
@click.argument("assignments", nargs=-1, required=True, metavar="FIELD=VALUE...")
@pass_session
def _accounts_set(session: Session, login_id: str, assignments: tuple[str, ...]) -> None:
    """Change single fields of an account.

    \b
    Examples:
      bullion desk accounts set aurum allocation.gold=1500
      bullion desk accounts set aurum api_access=false
    """
    fields = assigned(AccountBody, assignments)
    shape = AccountBody
    changed = session.run(
        lambda desk, actor: accounts.patch_account(desk, actor, login_id, conversion.Changes(shape, fields))
    )
    print_one(changed, as_json=session.as_json)


@accounts_group.command("reset-test-book")
@click.argument("login_id")
@yes_option
@pass_session
def _accounts_reset_test_book(session: Session, login_id: str, yes: bool) -> None:
    """Archive the test orders of an account.

    They leave its list and its positions. They can still be read by their ids, their idempotency keys stay
    used, and the T- numbers go on. Its keys are not touched.
    """
    confirm(f"Reset the test book of {login_id}? Its test orders leave list and positions for good.", yes=yes)
    print_one(
        session.run(lambda desk, actor: book_reset.reset_test_book(desk, actor, login_id)),
        as_json=session.as_json,
    )


@click.group("keys")
def keys_group() -> None:
    """Clients' API keys."""


@keys_group.command("list")
@click.argument("login_id")
@limit_option
@offset_option
@pass_session
def _keys_list(session: Session, login_id: str, limit: int, offset: int) -> None:
    """List the keys of an account; never their secrets."""
    columns = [
        "key_id",
        "environment",
        "name",
        "scopes",
        "last_used_at",
        "expires_at",
        "revoked_at",
        "replaced_by",
    ]
    found = session.run(lambda desk, actor: keys.list_keys(desk, actor, login_id, Page(limit, offset)))
    print_list(found, columns, as_json=session.as_json)


@keys_group.command("issue")
@click.argument("login_id")
@click.option("--environment", type=click.Choice(["test", "production"]), required=True)
@click.option("--name", required=True, help="What the key is for.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice([scope.value for scope in Scope]),
    help="Default: all scopes.",
)
@click.option("--expires", "expires_at", metavar="TIME", help="ISO 8601, for example 2027-01-31T00:00:00Z.")
@click.option(
    "--address", "addresses", multiple=True, help="An allowed address or CIDR block; may be repeated."
)
@pass_session
def _keys_issue(
    session: Session,
    login_id: str,
    environment: str,
    name: str,
    scopes: tuple[str, ...],
    expires_at: str | None,
    addresses: tuple[str, ...],
) -> None:
    """Issue a key to an account. Its secret is shown now and never again."""
    fields = {
        "environment": environment,
        "name": name,
        "scopes": list(scopes or Scope),
        "expires_at": expires_at,
        "allowed_addresses": list(addresses),
    }

    async def work(desk: Desk, actor: Actor) -> View:
        body = conversion.convert(fields, bodies.KeyBody)
        return await keys.issue_key(desk, actor, login_id, body)

    print_secret(session.run(work), "key", as_json=session.as_json)


@keys_group.command("rotate")
@click.argument("key_id")
@click.option(
    "--overlap", "overlap_s", default=86400, show_default=True, help="Seconds in which both keys work."
)
@click.option("--name", help="A new name; without it, and for all below, the old key's.")
@click.option("--scope", "scopes", multiple=True, type=click.Choice([scope.value for scope in Scope]))
@click.option("--expires", "expires_at", metavar="TIME", help="ISO 8601, or 'never'.")
@click.option(
    "--address", "addresses", multiple=True, help="An allowed address or CIDR block; may be repeated."
)
@pass_session
def _keys_rotate(
    session: Session,
    key_id: str,
    overlap_s: int,
    name: str | None,
    scopes: tuple[str, ...],
    expires_at: str | None,
    addresses: tuple[str, ...],
) -> None:
    """Issue a successor to a key; both work until the overlap ends."""
    fields: dict[str, object] = {"overlap_s": overlap_s}
    if name is not None:
        fields["name"] = name
    if scopes:
        fields["scopes"] = list(scopes)
    if addresses:
        fields["allowed_addresses"] = list(addresses)
    if expires_at is not None:
        fields["expires_at"] = None if expires_at == "never" else expires_at

    async def work(desk: Desk, actor: Actor) -> View:
        body = conversion.convert(fields, bodies.RotateBody)
        return await keys.rotate_key(desk, actor, key_id, body)

    print_secret(session.run(work), "key", as_json=session.as_json)


@keys_group.command("revoke")
@click.argument("key_id")
@yes_option
@pass_session
def _keys_revoke(session: Session, key_id: str, yes: bool) -> None:
    """Revoke a key, at once and for good."""
    confirm(
        f"Revoke {key_id}? Programs that use it are refused from now on, and it cannot be undone.", yes=yes
    )
    print_one(session.run(lambda desk, actor: keys.revoke_key(desk, actor, key_id)), as_json=session.as_json)
