"""What every declared action of the desk has, and that roles hold for all of them over HTTP."""

import re
from typing import Any

import pytest

from bullion.desk.actions import groups, switches
from bullion.desk.audit_sentences import audit_text_of
from bullion.desk.desk import Desk
from bullion.desk.registry import all_actions, role_of
from bullion.records.token import Role
from tests.support.desk import SYMBOL, Office, nothing_changed, refusal

ACTIONS = all_actions()
PREVIEWS = {"preview_order", "lock_price"}
"""They take the body of an order, and change nothing."""


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_is_declared_whole(name: str) -> None:
    action = ACTIONS[name]
    if name in PREVIEWS:
        assert (action.method, action.audit_text) == ("POST", None)
    else:
        assert (action.method == "GET") == (action.audit_text is None) == (action.role is Role.VIEWER)
    assert action.command is None or action.help
    assert len(action.path_names) == len(action.path_parameters)
    assert (action.changes is not None) == (action.method == "PATCH")
    assert ("confirm" in action.query) == bool(action.moves_prices)
    assert action.undo is None or action.moves_prices
    for parameter in action.query.keys() - {"confirm"}:
        assert action.takes(parameter) or action.takes("filters")


def test_no_two_actions_have_the_same_route_or_command() -> None:
    routes = [(action.method, action.path) for action in ACTIONS.values()]
    commands = [action.command for action in ACTIONS.values() if action.command]
    assert len(set(routes)) == len(routes)
    assert len(set(commands)) == len(commands)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.DEALER])
def test_nobody_below_its_role_begins_an_action(office: Office, role: Role) -> None:
    """The role is told before the path or the body is looked at."""
    caller = office.hire(role)
    with nothing_changed(office.desk):
        for action in ACTIONS.values():
            if not role.includes(action.least_role):
                path = re.sub(r"{\w+}", "x", action.path)
                refusal(caller.raw(action.method, path, b"nonsense"), 403, "role_too_low")


@pytest.mark.parametrize(("name", "own"), [("patch_symbol", "frozen"), ("patch_switches", "halted")])
def test_a_field_beyond_a_dealers_is_told_by_the_role_not_by_its_value(
    office: Office, name: str, own: str
) -> None:
    office.desk.do("PUT", "/symbols/GOLD", SYMBOL)
    action = ACTIONS[name]
    assert own in action.dealer_fields
    path = action.path.replace("{code}", "GOLD")
    dealer = office.hire(Role.DEALER)
    answer = dealer.request("PATCH", path, json={own: True, "nonsense": 1})
    assert refusal(answer, 403, "role_too_low") == "This needs the role admin; yours is dealer."
    refusal(dealer.request("PATCH", path, json={own: "nonsense"}), 422, "invalid_request")


def test_others_ask_the_registry_for_a_role() -> None:
    assert role_of(groups.put_group) is Role.ADMIN
    assert role_of(switches.patch_switches) is Role.DEALER
    assert role_of(switches.patch_switches, {"halted": True, "production": True}) is Role.ADMIN
    assert role_of(switches.patch_switches, {"halted": False}) is Role.DEALER
    assert role_of(groups.patch_group, {"terms": {}, "default_terms": None}) is Role.DEALER
    assert role_of(groups.patch_group, {"terms": {}, "trading": True}) is Role.ADMIN


@pytest.mark.parametrize(
    ("paused", "role"),
    [(True, Role.DEALER), (False, Role.ADMIN), (1, Role.ADMIN), ("true", Role.ADMIN), (None, Role.ADMIN)],
    ids=repr,
)
def test_a_dealer_pauses_and_an_admin_ends_the_pause(paused: object, role: Role) -> None:
    assert role_of(switches.patch_switches, {"paused": paused}) is role
    assert role_of(switches.patch_switches, {"halted": True, "paused": paused}) is role


def test_others_ask_the_registry_for_words() -> None:
    assert audit_text_of("put_group") == "set a group"
    assert audit_text_of("archived_orders") == "finished archiving orders"
    assert audit_text_of("never_heard_of") == "never heard of"


@pytest.mark.anyio
async def test_a_change_outside_of_every_action_is_not_recorded_without_a_name() -> None:
    nothing: Any = None
    desk = Desk(nothing, nothing, nothing, nothing, nothing)
    with pytest.raises(LookupError):
        await desk.change(nothing, "somebody", nothing, broker="main")
    with pytest.raises(LookupError):
        await desk.add_audit_entry(nothing, "somebody", {})
