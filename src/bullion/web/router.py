"""Finds the target of a path such as `/accounts/{login_id}/keys`."""

from collections.abc import Mapping
from typing import Generic, TypeVar

import msgspec

from bullion.refusals.catalogue import METHOD_NOT_ALLOWED
from bullion.refusals.refusal import RefusalError

from .framing import ENCODED_SLASH

Target = TypeVar("Target")
Resources = Mapping[str, Mapping[str, Target]]
"""By path and method. A segment in braces matches any text that is not empty."""

_NO_PARAMS: Mapping[str, str] = {}


class Match(msgspec.Struct, Generic[Target], frozen=True):
    path: str
    """The path as declared, with its parameters in braces."""
    methods: Mapping[str, Target]
    params: Mapping[str, str]

    def target(self, method: str) -> Target:
        target = self.methods.get(method)
        if target is None:
            raise RefusalError(METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(sorted(self.methods))})
        return target


class _Pattern(msgspec.Struct, Generic[Target], frozen=True):
    path: str
    methods: Mapping[str, Target]
    parts: list[str]


class Router(Generic[Target]):
    def __init__(self, resources: Resources[Target]) -> None:
        self._plain: dict[str, Match[Target]] = {}
        self._items: dict[str, _Pattern[Target]] = {}
        """Paths of the form `/orders/{id}`, by what stands before the parameter."""
        self._patterns: dict[int, list[_Pattern[Target]]] = {}
        """Other paths with parameters, by the number of their parts."""
        for path, methods in resources.items():
            pattern = _Pattern(path, methods, path.split("/"))
            collection, _, last = path.rpartition("/")
            if "{" not in path:
                self._plain[path] = Match(path, methods, _NO_PARAMS)
            elif "{" in last and "{" not in collection:
                self._items[collection] = pattern
            else:
                self._patterns.setdefault(len(pattern.parts), []).append(pattern)

    def find(self, path: str) -> Match[Target] | None:
        """Paths without parameters come first, then those whose last part is their only parameter."""
        match = self._plain.get(path)
        if match is not None:
            return match
        collection, _, last = path.rpartition("/")
        item = self._items.get(collection)
        if item is not None:
            if not last or ENCODED_SLASH in last:
                return None
            return Match(item.path, item.methods, {item.parts[-1][1:-1]: last})
        parts = path.split("/")
        for pattern in self._patterns.get(len(parts), ()):
            params = _params(pattern.parts, parts)
            if params is not None:
                return Match(pattern.path, pattern.methods, params)
        return None


def _params(pattern: list[str], parts: list[str]) -> dict[str, str] | None:
    params: dict[str, str] = {}
    for declared, part in zip(pattern, parts, strict=True):
        if declared.startswith("{") and part and ENCODED_SLASH not in part:
            params[declared[1:-1]] = part
        elif declared != part:
            return None
    return params
