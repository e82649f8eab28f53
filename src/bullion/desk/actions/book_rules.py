"""The rules of a hedge book: when covers are planned, in which contracts, and who sends them."""

from bullion.desk.audit_wording.hedging import tell_book_rule, tell_plan
from bullion.desk.bodies import BookRuleBody, PlanBody
from bullion.desk.conversion import require_code
from bullion.desk.cover_rules import contracts_of, read_threshold, require_rules, rule_view
from bullion.desk.desk import ChangeResult, Desk, OnlyIf, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.hedge.book.rules import Rule, RuleKind, rule_field_problems
from bullion.metals.metal import Metal
from bullion.metals.scaled import plain
from bullion.records.hedge_book import BookPosition
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

from .covers import BY_HAND
from .hedge_book import metal_of

_RULES_MAX = 20
_QUANTITY_PLACES = 8


@action(
    "PUT /hedge/book/{metal}/rules/{name}",
    Role.ADMIN,
    audit_text="set a rule of the hedge book",
    tell=tell_book_rule,
    command="hedge rule-put",
)
async def put_rule(
    desk: Desk, actor: Actor, metal: str, name: str, body: BookRuleBody, *, only_if: OnlyIf | None = None
) -> View:
    """Create or replace the rule NAME of a metal's hedge book. Rules are applied in their order.

    \b
    Examples:
      bullion desk hedge rule-put gold net --kind over --threshold 500 --contract GOLD --contract GOLDM
      bullion desk hedge rule-put gold night --kind close --threshold 600 --contract GOLDM --mode auto
    """
    require_code("name", name)
    if name == BY_HAND:
        raise invalid_field(("name",), "is what covers are marked with that no rule planned", within="path")
    of, rule = metal_of(metal), _rule(name, body)

    async def work(records: Records) -> ChangeResult:
        position = await _locked(records, actor.broker, of)
        contracts = await contracts_of(records, actor.broker, of)
        for field, message in rule_field_problems(rule, contracts, of.value):
            raise invalid_field((field,), message)
        before = await records.book_rules(actor.broker, of)
        after = _with(before, rule, body.place)
        if len(after) > _RULES_MAX:
            raise RefusalError(CONFLICT, f"A hedge book may have up to {_RULES_MAX} rules.")
        require_rules(position, before, after, contracts)
        await records.set_book_rules(actor.broker, of, after)
        earlier = next((rule_view(each) for each in before if each.name == name), None)
        return ChangeResult(earlier, rule_view(rule))

    return await desk.change(actor, f"{of.value} {name}", work, catalogue=False, only_if=only_if)


@action(
    "DELETE /hedge/book/{metal}/rules/{name}",
    Role.ADMIN,
    audit_text="deleted a rule of the hedge book",
    tell=tell_book_rule,
    command="hedge rule-delete",
)
async def delete_rule(desk: Desk, actor: Actor, metal: str, name: str) -> View:
    """Delete the rule NAME of a metal's hedge book. Its suggestions are dropped; what was sent stays."""
    of = metal_of(metal)

    async def work(records: Records) -> ChangeResult:
        position = await _locked(records, actor.broker, of)
        before = await records.book_rules(actor.broker, of)
        deleted = _named(before, name)
        after = [each for each in before if each.name != name]
        require_rules(position, before, after, await contracts_of(records, actor.broker, of))
        await records.set_book_rules(actor.broker, of, after)
        return ChangeResult(rule_view(deleted), None, rule_view(deleted))

    return await desk.change(actor, f"{of.value} {name}", work, catalogue=False)


@action(
    "POST /hedge/book/{metal}/plan",
    Role.DEALER,
    audit_text="planned covers of the hedge book",
    tell=tell_plan,
    command="hedge plan",
)
async def plan_covers(desk: Desk, actor: Actor, metal: str, body: PlanBody) -> View:
    """Apply a rule now, whatever its threshold. It makes suggestions, which replace earlier ones of rules.

    They follow the book until a dealer sends or drops them.
    """
    of = metal_of(metal)

    async def work(records: Records) -> ChangeResult:
        _named(await records.book_rules(actor.broker, of), body.rule)
        planned = await records.plan_by_hand(actor.broker, of, body.rule, actor.name)
        if planned is None:
            raise _not_open(of)
        covers = [
            {
                "id": each.id,
                "contract": each.contract.code,
                "side": "buy" if each.quantity_e8 > 0 else "sell",
                "quantity": plain(abs(each.quantity_e8), _QUANTITY_PLACES),
            }
            for each in planned
        ]
        return ChangeResult(None, {"metal": of.value, "rule": body.rule, "covers": covers})

    return await desk.change(actor, of.value, work, catalogue=False)


def _rule(name: str, body: BookRuleBody) -> Rule:
    kind = RuleKind(body.kind)
    threshold = read_threshold(kind, body.threshold)
    codes = tuple(dict.fromkeys(body.contracts))
    return Rule(name, kind, threshold, codes, body.side or "", body.mode)


def _with(rules: list[Rule], rule: Rule, place: int | None) -> list[Rule]:
    """Without a place, a rule that exists keeps its own, and a new one is the last."""
    names = [each.name for each in rules]
    others = [each for each in rules if each.name != rule.name]
    if place is None:
        place = names.index(rule.name) + 1 if rule.name in names else len(others) + 1
    return [*others[: place - 1], rule, *others[place - 1 :]]


def _named(rules: list[Rule], name: str) -> Rule:
    for rule in rules:
        if rule.name == name:
            return rule
    raise RefusalError(NOT_FOUND, f"This hedge book has no rule {name}.")


async def _locked(records: Records, broker: str, metal: Metal) -> BookPosition:
    position = await records.lock_book_position(broker, metal)
    if position is None:
        raise _not_open(metal)
    return position


def _not_open(metal: Metal) -> RefusalError:
    return RefusalError(CONFLICT, f"The hedge book of {metal.value} is not open.")
