"""The quick tests of `pytest --quick`: those that start no process and are not marked `slow`.

Whether a test starts a process is read from its code: from the names that it and its fixtures use, and from
the functions and classes of the tests behind them. In a quick run, a process that is started all the same
fails its test, so that nothing slow creeps in.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

from tests.support.forked_process import ForkedProcess

_OWN = ("tests.", "bench.", "tools.")
"""The code that is looked through, by the beginning of its module's name."""
_STARTERS = (subprocess, ForkedProcess)


def is_quick(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function):
        return True
    if item.get_closest_marker("slow") is not None:
        return False
    fixtures = [*item._fixtureinfo.name2fixturedefs.values(), *_fixtures_by_parameter(item)]
    functions = [item.function, *(each.func for defined in fixtures for each in defined)]
    return not any(starts_process(function) for function in functions)


def _fixtures_by_parameter(item: pytest.Function) -> Iterator[Sequence[pytest.FixtureDef[Any]]]:
    """Those whose name is a parameter of the test, such as `postgres`: it is used for `getfixturevalue`."""
    for parameter in item.callspec.params.values() if hasattr(item, "callspec") else ():
        if isinstance(parameter, str):
            yield item.session._fixturemanager.getfixturedefs(parameter, item) or ()


@cache
def starts_process(function: Any) -> bool:
    """Whether a function of the tests starts a process, itself or through what it calls by name."""
    seen: set[Any] = set()
    waiting = [function]
    while waiting:
        thing = waiting.pop()
        if thing in _STARTERS:
            return True
        if isinstance(thing, type | FunctionType) and thing not in seen:
            seen.add(thing)
            waiting.extend(_named_by(thing))
    return False


def _named_by(thing: Any) -> Iterator[Any]:
    """What the code of a function, or of a class's functions, uses by a global name."""
    if isinstance(thing, type) and thing.__module__.startswith(_OWN):
        for member in vars(thing).values():
            yield getattr(member, "__func__", getattr(member, "fget", member))
    function = getattr(thing, "__wrapped__", thing)
    if isinstance(function, FunctionType) and function.__module__.startswith(_OWN):
        names = set(_names(function.__code__))
        for used in [function.__globals__.get(name) for name in names]:
            yield used
            if isinstance(used, ModuleType) and used.__name__.startswith(_OWN):
                yield from (getattr(used, name, None) for name in names)
        yield from function.__defaults__ or ()


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


@cache
def forbid_processes() -> None:
    """From now on, whatever starts a process in this interpreter gets an error."""
    sys.addaudithook(_forbid)


def _forbid(event: str, arguments: Iterable[object]) -> None:
    if event in {"subprocess.Popen", "os.fork", "os.posix_spawn"}:
        raise AssertionError(f"A quick test started a process ({event}): mark it slow, or see {__name__}.")
