"""Every action of the desk, declared once: its route, role, command and text in the audit trail.

An action is a function of `bullion.desk.actions` under the decorator `action`. The HTTP interface, the
command line, the console's permissions and the reference in the documentation follow from what is declared.
"""

import pkgutil
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, wraps
from importlib import import_module
from inspect import getdoc, signature
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

from bullion.records.token import Actor, Role
from bullion.store.records import Records

from .audit_wording.parts import Tell
from .bodies import Body, Option
from .conversion import Changes, require_valid
from .desk import ChangeResult, Desk, View, require

Work = Callable[..., Awaitable[Any]]
F = TypeVar("F", bound=Work)
Undo = Callable[[Records, str, str, View], Awaitable[ChangeResult]]
"""Puts the earlier state of something back, given its broker and its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    name: str
    work: Work
    method: str
    path: str
    role: Role
    dealer_fields: frozenset[str]
    """A change of these fields alone needs a dealer; of any other, an admin."""
    dealer_values: Mapping[str, object]
    """A dealer may also set these fields, to these values alone."""
    audit_text: str | None
    """Such as "set a group", after the actor's name. None for actions that write no entry."""
    tell: Tell | None
    """Puts an entry of it into words; None: its text and its subject do."""
    status: int
    command: str | None
    """Such as `accounts create`; None: it has a special command, or none."""
    columns: tuple[str, ...]
    """The columns of its table; empty: all."""
    shown_once: str | None
    """The field of its result that is shown once."""
    question: str | None
    """The confirmation prompt of the command. It may use the parameters; {order} describes an order."""
    query: Mapping[str, Option]
    """Parameters of the query, which are options of the command."""
    parameters: tuple[str, ...]
    """The parameters of the function after the desk and the actor."""
    body: Any
    """The type of the body; None if it takes none."""
    changes: type[Body] | None
    """The body type of which it takes single fields."""
    moves_prices: bool | frozenset[str]
    """Whether it may move what clients pay; or only with one of these fields."""
    undo: Undo | None
    """Takes a change back; None: it cannot be."""
    reads_market: bool
    """Whether its command needs the memory of a node, with rates and the venue's answers."""

    @property
    def help(self) -> str:
        return getdoc(self.work) or ""

    @property
    def path_parameters(self) -> tuple[str, ...]:
        """Named as in the function."""
        return self.parameters[: self.path.count("{")]

    @property
    def path_names(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.path)

    def sent(self, arguments: Iterable[Any]) -> str | None:
        """What was sent, as a text to compare; None if that cannot move prices."""
        fields = [each.fields for each in arguments if isinstance(each, Changes)]
        wanted = self.moves_prices
        if wanted is False or (wanted is not True and fields and wanted.isdisjoint(fields[0])):
            return None
        plain = [each.fields if isinstance(each, Changes) else each for each in arguments]
        return msgspec.json.encode(plain, order="sorted").decode()

    def may_have_moved_prices(self, before: View, after: View) -> bool:
        """Whether such a change, from one state to another, is one of prices."""
        if isinstance(self.moves_prices, bool):
            return self.moves_prices and before != after
        return any(before.get(name) != after.get(name) for name in self.moves_prices)

    def takes(self, parameter: str) -> bool:
        return parameter in self.parameters[self.path.count("{") :]

    @property
    def least_role(self) -> Role:
        """The lowest role that may use the action."""
        return Role.DEALER if self.dealer_fields or self.dealer_values else self.role

    def role_for(self, changes: Mapping[str, object]) -> Role:
        """The role that these changes need, by field."""
        for_dealers = all(
            field in self.dealer_fields
            or (field in self.dealer_values and self.dealer_values[field] is value)
            for field, value in changes.items()
        )
        return self.least_role if for_dealers else self.role


_ACTIONS: dict[str, Action] = {}
_CONFIRM = "confirm"
_CONFIRM_OPTION = Option("Confirm the prices that were shown, by their fingerprint.", metavar="FINGERPRINT")


def action(
    route: str,
    role: Role = Role.VIEWER,
    *,
    audit_text: str | None = None,
    tell: Tell | None = None,
    dealer_fields: Iterable[str] = (),
    dealer_values: Mapping[str, object] | None = None,
    status: int = 200,
    command: str | None = None,
    columns: str = "",
    shown_once: str | None = None,
    question: str | None = None,
    query: Mapping[str, Option] | None = None,
    moves_prices: bool | Iterable[str] = False,
    undo: Undo | None = None,
    reads_market: bool = False,
) -> Callable[[F], F]:
    """Declare an action. Its function then checks the role and the body before it does anything.

    With `moves_prices`, a change goes through the price guard, and every caller may `confirm` it. Names of
    fields say that only a change of one of these can move prices.

    `route` is a method and a path. The parameters of the function after the desk and the actor are those of
    the path, in its order, then `body` or `changes`, and then what else a caller may send. Its docstring is
    the help of its command.
    """
    method, path = route.split(" ")

    def declare(work: F) -> F:
        hints = get_type_hints(work, include_extras=True)
        changes = hints.get("changes")

        @wraps(work)
        async def do(desk: Desk, actor: Actor, *arguments: Any, **named: Any) -> Any:
            confirm = named.pop(_CONFIRM, desk.confirm)
            sent = [each for each in arguments if isinstance(each, Changes)]
            require(actor, declared.role_for(sent[0].fields) if sent else role)
            for each in arguments:
                if isinstance(each, Body | list):
                    require_valid(each)
            doing = replace(
                desk,
                action=declared.name,
                sent=declared.sent(arguments),
                confirm=confirm,
                can_undo=undo is not None,
            )
            return await work(doing, actor, *arguments, **named)

        declared = Action(
            name=work.__name__,
            work=do,
            method=method,
            path=path,
            role=role,
            dealer_fields=frozenset(dealer_fields),
            dealer_values=dealer_values or {},
            audit_text=audit_text,
            tell=tell,
            status=status,
            command=command,
            columns=tuple(columns.split()),
            shown_once=shown_once,
            question=question,
            query={**(query or {}), **({_CONFIRM: _CONFIRM_OPTION} if moves_prices else {})},
            parameters=tuple(signature(work).parameters)[2:],
            body=hints.get("body"),
            changes=None if changes is None else get_args(changes)[0],
            moves_prices=moves_prices if isinstance(moves_prices, bool) else frozenset(moves_prices),
            undo=undo,
            reads_market=reads_market,
        )

        if declared.name in _ACTIONS:
            raise ValueError(f"two actions are called {declared.name}")
        _ACTIONS[declared.name] = declared
        return do  # type: ignore[return-value]

    return declare


@cache
def all_actions() -> Mapping[str, Action]:
    """By name."""
    package = import_module("bullion.desk.actions")
    for module in pkgutil.iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
    return _ACTIONS


def role_of(work: Work, changes: Mapping[str, object] | None = None) -> Role:
    """The role that an action needs: for these changes, or to use it at all."""
    declared = _ACTIONS[work.__name__]
    return declared.least_role if changes is None else declared.role_for(changes)
