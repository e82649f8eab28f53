"""Second factors of the console: who needs one, and resetting that of a user who lost it."""

from bullion.desk.audit_wording.people import tell_about_user, tell_factor_rule
from bullion.desk.bodies import FactorRuleBody
from bullion.desk.desk import ChangeResult, Desk, OnlyIf, View
from bullion.desk.registry import action
from bullion.records.second_factor import FactorRule
from bullion.records.token import FIRST_USER, Actor, Role
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

from .tokens import find_token


@action("GET /second-factor", command="tokens second-factor")
async def get_factor_rule(desk: Desk, actor: Actor) -> View:
    """Show who needs a second factor in the console."""
    return _view(await desk.read(actor, "factor_rule", lambda records: records.factor_rule(actor.broker)))


@action(
    "PUT /second-factor",
    Role.ADMIN,
    audit_text="changed who needs a second factor",
    tell=tell_factor_rule,
    command="tokens require-second-factor",
)
async def put_factor_rule(
    desk: Desk, actor: Actor, body: FactorRuleBody, *, only_if: OnlyIf | None = None
) -> View:
    """Set who needs a second factor in the console: off, admins or all.

    Users who need one and have none set it up before they can go on.
    """

    async def work(records: Records) -> ChangeResult:
        before = await records.factor_rule(actor.broker)
        await records.put_factor_rule(actor.broker, FactorRule(body.required))
        return ChangeResult(_view(before), {"required": body.required})

    # With the catalogue's lock, or of two that change it at once the second would undo the first.
    return await desk.change(actor, body.required, work, only_if=only_if)


@action(
    "DELETE /tokens/{token_id}/second-factor",
    Role.ADMIN,
    audit_text="reset the second factor of a user",
    tell=tell_about_user("second factor reset"),
    command="tokens reset-second-factor",
    question="Reset the second factor of the token {token_id}? Its user can then log in without a code.",
)
async def reset_second_factor(desk: Desk, actor: Actor, token_id: str) -> View:
    """Remove the second factor of a user who lost it, and end the user's sessions in the console.

    The user of the first token is called "first"; only the first token and the command line may reset it.
    """
    if token_id == FIRST_USER and not actor.first:
        raise RefusalError(NOT_FOUND, "There is no such token on this broker.")

    async def work(records: Records) -> ChangeResult:
        if token_id != FIRST_USER:
            await find_token(records, actor, token_id)
        factor = await records.second_factor(token_id)
        on = factor is not None and factor.confirmed_at_us is not None
        await records.delete_second_factor(token_id)
        await records.delete_user_sessions(token_id)
        return ChangeResult({"second_factor": on}, {"second_factor": False})

    return await desk.change(actor, token_id, work, catalogue=False)


def _view(rule: FactorRule) -> View:
    return {"required": rule.value}
