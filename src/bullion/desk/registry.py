"""Every action of the desk, declared once: its route, its role, and what the audit trail calls it.

An action is a function of `bullion.desk.actions` under the decorator `action`. The HTTP interface, the
command line, the console's permissions and the reference in the documentation follow from what is declared.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

from bullion.records.token import Actor, Role

from .bodies import Body
from .conversion import Changes, require_valid
from .desk import Desk, require

Work = Callable[..., Awaitable[Any]]
F = TypeVar("F", bound=Work)


@dataclass(frozen=True, slots=True)
class Action:
    name: str
    method: str
    path: str
    role: Role
    told: str | None
    """As in "Meera put a group"; None for what changes nothing and leaves no entry in the trail."""
    dealer_fields: frozenset[str]
    """A change of these fields alone needs a dealer; of any other, an admin."""
    work: Work

    def role_for(self, fields: Iterable[str]) -> Role:
        """The role that a change of these fields needs."""
        return Role.DEALER if self.dealer_fields and self.dealer_fields.issuperset(fields) else self.role

    @property
    def least_role(self) -> Role:
        """The role below which nobody may even begin."""
        return Role.DEALER if self.dealer_fields else self.role


_ACTIONS: dict[str, Action] = {}


def action(
    route: str, role: Role = Role.VIEWER, *, told: str | None = None, dealer_fields: Iterable[str] = ()
) -> Callable[[F], F]:
    """Declare an action. Its function then looks at the role and at its body before it does anything.

    `route` is a method and a path. The parameters of the function after the desk and the actor are those of
    the path, in its order, then `body` or `changes`, and then what else a caller may send.
    """
    method, path = route.split(" ")

    def declare(work: F) -> F:
        declared = Action(work.__name__, method, path, role, told, frozenset(dealer_fields), work)

        @wraps(work)
        async def do(desk: Desk, actor: Actor, *arguments: Any, **named: Any) -> Any:
            fields: Iterable[str] = ("",)
            for each in arguments:
                if isinstance(each, Changes):
                    fields = each.fields
            require(actor, declared.role_for(fields))
            for each in arguments:
                if isinstance(each, Body | list):
                    require_valid(each)
            return await work(desk, actor, *arguments, **named)

        if declared.name in _ACTIONS:
            raise ValueError(f"two actions are called {declared.name}")
        _ACTIONS[declared.name] = declared
        return do  # type: ignore[return-value]

    return declare


def role_of(work: Work, fields: Iterable[str] | None = None) -> Role:
    """The role that an action needs: for these fields, or else to use it at all."""
    declared = _ACTIONS[work.__name__]
    return declared.least_role if fields is None else declared.role_for(fields)
