"""The paths of the description, brought together: what both environments have is shown as one call."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from bullion.environment import Environment

from .pieces import Json, slug

Said = TypeVar("Said", bound=Hashable)


@dataclass(slots=True)
class Endpoint:
    """A method and a path below its base, with an operation for each environment it is in."""

    method: str
    path: str
    operations: dict[str, Json] = field(default_factory=dict)
    """By full path."""

    @property
    def anchor(self) -> str:
        return slug(f"{self.method}-{self.path}")

    @property
    def operation(self) -> Json:
        """What is the same in both environments is read from the first."""
        return next(iter(self.operations.values()))

    @property
    def title(self) -> str:
        """Its summary, without the environment."""
        summary: str = self.operation["summary"]
        where = environment_of(next(iter(self.operations)))
        return summary.removesuffix(f" ({where})")

    @property
    def scopes(self) -> list[str]:
        security: list[dict[str, list[str]]] = self.operation["security"]
        return [scope for requirement in security for scopes in requirement.values() for scope in scopes]

    def said(self, say: Callable[[Json], Iterable[Said]]) -> dict[Said, list[str]]:
        """What the operations say, each thing once, with the environments it is true of if not of all."""
        found: dict[Said, list[str]] = {}
        for full_path, operation in self.operations.items():
            for each in say(operation):
                found.setdefault(each, []).append(environment_of(full_path))
        return {each: [] if len(where) == len(self.operations) else where for each, where in found.items()}


def endpoints_of(paths: Json) -> list[Endpoint]:
    found: dict[tuple[str, str], Endpoint] = {}
    for full_path, item in paths.items():
        path = full_path.removeprefix(_base(full_path)[0])
        for method, operation in item.items():
            found.setdefault((method, path), Endpoint(method, path)).operations[full_path] = operation
    return list(found.values())


def environment_of(full_path: str) -> str:
    return _base(full_path)[1]


def media(body: Json) -> Json:
    """What a body looks like. We speak one media type."""
    found: Json = next(iter(body["content"].values()))
    return found


def _base(full_path: str) -> tuple[str, str]:
    """The base path of the environment it is in, and that environment's name; both empty if it is in none."""
    for environment in Environment:
        if full_path.startswith(environment.base_path + "/"):
            return environment.base_path, environment.value
    return "", ""
