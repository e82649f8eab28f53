"""The examples of a page, run as its reader would: in one shell, from top to bottom, on a real service."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.docs.comparison import differences, head_differences, text_differences, without_prices
from tests.docs.markdown import Block, blocks
from tests.support.forked_process import forked_programs

_SHOWS = {"json", "http", "text"}
# What a reader does before, or what does not end: the test has done it in its own way.
_DONE_BEFORE = re.compile(r"export |(?:[A-Z_]+=\S+ )*make |#")
NOT_RUN = "# Not run by our tests"
"""A block that begins so says to its reader that no test runs it, and why."""
_SEPARATOR = "\x1e"
_PATIENCE_S = 300
"""A machine that runs all tests at once is slow."""


@dataclass(frozen=True)
class Example:
    source: Block
    shown: Block | None
    """What the page says that comes of it."""


def examples(page: Path, language: str) -> list[Example]:
    found = blocks(page)
    return [
        Example(block, after if after is not None and after.language in _SHOWS else None)
        for block, after in zip(found, [*found[1:], None], strict=True)
        if block.language == language and not done_before(block) and not block.text.startswith(NOT_RUN)
    ]


def done_before(block: Block) -> bool:
    return all(_DONE_BEFORE.match(line) for line in block.text.splitlines() if line)


def run_shell(
    page: Path,
    folder: Path,
    variables: Mapping[str, str],
    programs: Sequence[str] = (),
    *,
    market_moves: bool = False,
) -> Iterator[str]:
    """Run all shell blocks in one shell, and say where the page is not true.

    `programs` are those that a reader is expected to have, wherever this machine keeps them. Where
    `market_moves`, prices may be others than the page shows.
    """
    shell = shutil.which("bash")
    assert shell is not None, "the examples need bash"
    wanted = examples(page, "sh")
    assert wanted, f"{page} has no examples: were they renamed?"
    script = "\n".join(f"printf '{_SEPARATOR}'\n{example.source.text}\nprintf '\\n'" for example in wanted)
    with forked_programs() as (path, descriptor, more):
        environment = environment_of(folder, variables, programs) | more
        environment["PATH"] = f"{path}{os.pathsep}{environment['PATH']}"
        done = subprocess.run(
            [shell, "-euo", "pipefail", "-c", script],
            cwd=folder,
            env=environment,
            pass_fds=[descriptor],
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    outputs = done.stdout.split(_SEPARATOR)[1:]
    for example, output in zip(wanted, outputs, strict=False):
        yield from untrue(example, output, market_moves=market_moves)
    if done.returncode:
        yield f"{wanted[len(outputs) - 1].source.place}: exit code {done.returncode}: {done.stderr.strip()}"


def run_python(
    page: Path, folder: Path, variables: Mapping[str, str], *, market_moves: bool = False
) -> Iterator[str]:
    for example in examples(page, "python"):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", example.source.text],
            cwd=folder,
            env=environment_of(folder, variables),
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
        if done.returncode:
            yield f"{example.source.place}: exit code {done.returncode}: {done.stderr.strip()}"
        else:
            yield from untrue(example, done.stdout, market_moves=market_moves)


def environment_of(
    folder: Path, variables: Mapping[str, str], programs: Sequence[str] = ()
) -> dict[str, str]:
    """The reader's, but without settings and proxies; commands are those under test, their state is here."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BULLION_")}
    folders = [str(Path(program).parent) for program in (sys.executable, *programs)]
    path = os.pathsep.join([*folders, kept.get("PATH", "")])
    state = {"XDG_STATE_HOME": str(folder / "state")}
    return kept | {"PATH": path, "NO_PROXY": "*", "no_proxy": "*"} | state | dict(variables)


def untrue(example: Example, output: str, *, market_moves: bool = False) -> Iterator[str]:
    """Where the output differs from what the page shows."""
    if example.shown is None:
        return
    shown = example.shown.text
    if market_moves:
        shown, output = without_prices(shown), without_prices(output)
    match example.shown.language:
        case "json":
            found = differences(json.loads(shown), _last_json(output))
        case "http":
            found = head_differences(shown, output)
        case _:
            found = text_differences(shown, output)
    for difference in found:
        yield f"{example.shown.place}: {difference}"


def _last_json(output: str) -> Any:
    """Several calls in one block answer one after the other; shown is the last."""
    decoder, place, value = json.JSONDecoder(), 0, None
    while beginning := re.compile(r"\S").search(output, place):
        value, place = decoder.raw_decode(output, beginning.start())
    return value
