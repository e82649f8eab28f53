"""The generated files: written from the code, and kept in step with it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bullion.api.openapi import RETRY_ADVICE, openapi
from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import Env, RefusalCode, Retry
from tools.generate import generated, main
from tools.pictures import pictures
from tools.refusals_page import refusals_page

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    "clients/typescript/src/refusals.ts",
    "docs/desk.md",
    "docs/refusals.md",
    "docs/openapi.json",
    "docs/postman.json",
    "docs/scaling.md",
    "src/bullion/api/docs.html",
    "src/bullion/api/guide.html",
    "src/bullion_client/retry_table.py",
    *pictures(ROOT),
]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with the generated files, freshly written."""
    assert main([], tmp_path) == 0
    return tmp_path


def test_the_committed_files_are_in_step_by_the_command_make_uses() -> None:
    command = [sys.executable, str(ROOT / "tools" / "generate.py"), "--check"]
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_it_writes_what_it_then_finds_in_step(copy: Path) -> None:
    assert sorted(str(path.relative_to(copy)) for path in copy.rglob("*.*")) == sorted(FILES)
    assert main(["--check"], copy) == 0


def test_altered_files_are_named_and_left_alone(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for each in FILES:
        path = copy / each
        path.write_text(path.read_text() + " ")
    assert main(["--check"], copy) == 1
    told = capsys.readouterr().err
    assert [each for each in FILES if each not in told] == []
    assert "run: make generate" in told
    assert [each for each in FILES if not (copy / each).read_text().endswith(" ")] == []


def test_missing_files_are_out_of_step(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for each in FILES:
        (copy / each).unlink()
    assert main(["--check"], copy) == 1
    told = capsys.readouterr().err
    assert [each for each in FILES if each not in told] == []


def test_only_what_is_out_of_step_is_named(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    altered, missing, *others = FILES
    (copy / altered).write_text("")
    (copy / missing).unlink()
    assert main(["--check"], copy) == 1
    told = capsys.readouterr().err
    assert altered in told
    assert missing in told
    assert [each for each in others if each in told] == []


def test_openapi_json_is_the_description_sorted_and_ended() -> None:
    text = generated()["docs/openapi.json"]
    assert json.loads(text) == openapi()
    assert text.endswith("}\n")
    assert list(json.loads(text)) == sorted(openapi())


# --- The refusals page ----------------------------------------------------------------------------------


def table(rows: tuple[RefusalCode, ...]) -> list[list[str]]:
    lines = [line for line in refusals_page(rows).splitlines() if line.startswith("| ")]
    return [line.strip("| ").split(" | ") for line in lines[2:]]


def test_every_refusal_stands_in_the_order_of_the_checks() -> None:
    cells = table(CATALOGUE)
    assert [(number, code, status) for number, code, status, *_ in cells] == [
        (str(number), f"`{row.code}`", str(row.status)) for number, row in enumerate(CATALOGUE, 1)
    ]


def test_a_row_tells_all_there_is_to_know() -> None:
    ours = RefusalCode("ours", 418, Env.PROD, "When.", "…", Retry.NEW_KEY, settles_key=True, specified=False)
    theirs = RefusalCode("theirs", 400, Env.BOTH, "Then.", "…")
    assert [row[3:] for row in table((ours, theirs))] == [
        ["production", "When.", RETRY_ADVICE[Retry.NEW_KEY], "yes", "addition"],
        ["both", "Then.", RETRY_ADVICE[Retry.NEVER], "no", "specified"],
    ]


def test_a_bar_in_a_text_does_not_end_its_cell() -> None:
    page = refusals_page((RefusalCode("bar", 400, Env.BOTH, "One|two.", "…"),))
    assert "One\\|two." in page
