"""Finds the target of a path such as `/accounts/{login_id}/keys`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from bullion.refusals.catalogue import METHOD_NOT_ALLOWED
from bullion.refusals.refusal import RefusalError

from .framing import ENCODED_SLASH

Target = TypeVar("Target")
Resources = Mapping[str, Mapping[str, Target]]
"""By path and method. A segment in braces matches any text that is not empty."""

_NO_PARAMS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Match(Generic[Target]):
    path: str
    """The path as declared, with its parameters in braces."""
    methods: Mapping[str, Target]
    params: Mapping[str, str]

    def target(self, method: str) -> Target:
        target = self.methods.get(method)
        if target is None:
            raise RefusalError(METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(sorted(self.methods))})
        return target


class Router(Generic[Target]):
    def __init__(self, resources: Resources[Target]) -> None:
        self._plain: dict[str, Match[Target]] = {}
        self._patterns: dict[int, list[tuple[list[str], str, Mapping[str, Target]]]] = {}
        """By the number of their parts."""
        for path, methods in resources.items():
            if "{" in path:
                parts = path.split("/")
                self._patterns.setdefault(len(parts), []).append((parts, path, methods))
            else:
                self._plain[path] = Match(path, methods, _NO_PARAMS)

    def find(self, path: str) -> Match[Target] | None:
        """A path without parameters is preferred to one with them."""
        match = self._plain.get(path)
        if match is not None:
            return match
        parts = path.split("/")
        for pattern, declared, methods in self._patterns.get(len(parts), ()):
            params = _params(pattern, parts)
            if params is not None:
                return Match(declared, methods, params)
        return None


def _params(pattern: list[str], parts: list[str]) -> dict[str, str] | None:
    params: dict[str, str] = {}
    for wanted, part in zip(pattern, parts, strict=True):
        if wanted.startswith("{") and part and ENCODED_SLASH not in part:
            params[wanted[1:-1]] = part
        elif wanted != part:
            return None
    return params
