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

from bullion.records.token import Actor, Role

from .bodies import Body, Option
from .conversion import Changes, require_valid
from .desk import Desk, require

Work = Callable[..., Awaitable[Any]]
F = TypeVar("F", bound=Work)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    name: str
    work: Work
    method: str
    path: str
    role: Role
    dealer_fields: frozenset[str]
    """A change of these fields alone needs a dealer; of any other, an admin."""
    audit_text: str | None
    """Such as "set a group", after the actor's name. None for actions that change nothing."""
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

    def takes(self, parameter: str) -> bool:
        return parameter in self.parameters[self.path.count("{") :]

    @property
    def least_role(self) -> Role:
        """The lowest role that may use the action."""
        return Role.DEALER if self.dealer_fields else self.role

    def role_for(self, fields: Iterable[str]) -> Role:
        """The role that a change of these fields needs."""
        return self.least_role if self.dealer_fields.issuperset(fields) else self.role


_ACTIONS: dict[str, Action] = {}


def action(
    route: str,
    role: Role = Role.VIEWER,
    *,
    audit_text: str | None = None,
    dealer_fields: Iterable[str] = (),
    status: int = 200,
    command: str | None = None,
    columns: str = "",
    shown_once: str | None = None,
    question: str | None = None,
    query: Mapping[str, Option] | None = None,
) -> Callable[[F], F]:
    """Declare an action. Its function then checks the role and the body before it does anything.

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
            sent = [each for each in arguments if isinstance(each, Changes)]
            require(actor, declared.role_for(sent[0].fields) if sent else role)
            for each in arguments:
                if isinstance(each, Body | list):
                    require_valid(each)
            return await work(replace(desk, action=declared.name), actor, *arguments, **named)

        declared = Action(
            name=work.__name__,
            work=do,
            method=method,
            path=path,
            role=role,
            dealer_fields=frozenset(dealer_fields),
            audit_text=audit_text,
            status=status,
            command=command,
            columns=tuple(columns.split()),
            shown_once=shown_once,
            question=question,
            query=query or {},
            parameters=tuple(signature(work).parameters)[2:],
            body=hints.get("body"),
            changes=None if changes is None else get_args(changes)[0],
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


def role_of(work: Work, fields: Iterable[str] | None = None) -> Role:
    """The role that an action needs: for these fields, or to use it at all."""
    declared = _ACTIONS[work.__name__]
    return declared.least_role if fields is None else declared.role_for(fields)


_OTHER_ENTRIES = {
    "archive_orders": "archived orders",
    "archive_traces": "archived decisions",
    "archived_orders": "finished archiving orders",
    "exchange_secret": "exchanged the deployment's secret",
}
"""Audit entries that are not named after an action."""


def audit_text_of(name: str) -> str:
    """The text of an audit entry, which follows the actor's name."""
    declared = all_actions().get(name)
    text = declared.audit_text if declared else _OTHER_ENTRIES.get(name)
    return text or name.replace("_", " ")


def entry_names() -> list[str]:
    """The names of all kinds of entries in the audit trail."""
    return [*(each.name for each in all_actions().values() if each.audit_text), *_OTHER_ENTRIES]
