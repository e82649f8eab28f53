"""What the documentation says of the code, and of itself, is so."""

import configparser
import importlib
import importlib.util
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from bullion.__main__ import main as command_line
from bullion.allocation.position import Position
from bullion.api.openapi import openapi
from bullion.booking import queue
from bullion.desk_api.app import BASE
from bullion.desk_api.routes import desk_routes
from bullion.refusals import desk as desk_refusals
from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import RefusalCode, Retry
from bullion.settings import _NOT_OURS, _READERS, SECRET_FILES, SECRETS, Settings, read_settings
from bullion.store import schema, traces
from bullion.store.order_rows import BLOCK_SIZES
from bullion.wiring import trading
from tests.docs.commands import command_of
from tests.docs.markdown import (
    PAGES,
    ROOT,
    anchors,
    blocks,
    links,
    name_of,
    pictures,
    prose,
    quoted,
    table_rows,
)
from tools.pictures.retry import ANSWERS

DESK = ROOT / "docs/desk.md"
TRADING_API = ROOT / "docs/trading-api.md"
CLIENT_GUIDE = ROOT / "docs/client-guide.md"
ARCHITECTURE = ROOT / "docs/architecture.md"
ENV_EXAMPLE = ROOT / ".env.example"

every_page = pytest.mark.parametrize("page", PAGES, ids=name_of)


# --- Every page -----------------------------------------------------------------------------------------


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        if link.startswith(("https://", "http://")):
            continue
        target, _, anchor = link.partition("#")
        other = (page.parent / target).resolve() if target else page
        assert other.exists(), f"{name_of(page)}: {link} leads nowhere"
        if anchor:
            assert anchor in anchors(other), f"{name_of(page)}: {link} names no heading"


@every_page
def test_pictures_that_are_shown_exist(page: Path) -> None:
    for picture in pictures(page):
        assert (page.parent / picture).is_file(), f"{name_of(page)}: there is no {picture}"


def test_every_picture_is_shown_and_can_be_read_in_the_dark() -> None:
    shown = {(page.parent / picture).resolve() for page in PAGES for picture in pictures(page)}
    assert shown == set(ROOT.glob("docs/pictures/*"))
    for file in (each for each in shown if each.suffix == ".svg"):
        assert "prefers-color-scheme: dark" in file.read_text("utf-8"), file


@every_page
def test_files_that_are_named_exist(page: Path) -> None:
    for path in quoted(page):
        if re.match(r"(src|tests|tools|bench|docs)/", path) and "<" not in path:
            assert (ROOT / path).exists(), f"{name_of(page)}: there is no {path}"


@every_page
def test_modules_that_are_named_exist(page: Path) -> None:
    for name in quoted(page):
        if re.fullmatch(r"bullion(_client)?(\.\w+)+", name) and ".db" not in name:
            assert importlib.util.find_spec(name), f"{name_of(page)}: there is no module {name}"


@every_page
def test_what_is_named_in_a_module_is_there(page: Path) -> None:
    for names, module in re.findall(r"((?:`\w+`(?:, | and )?)+) in `(bullion[\w.]+)`", prose(page)):
        for name in re.findall(r"\w+", names.replace(" and ", " ")):
            found = hasattr(importlib.import_module(module), name)
            assert found, f"{name_of(page)}: {module} has no {name}"


@every_page
def test_make_targets_that_are_named_exist(page: Path) -> None:
    there = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8")))
    named = [match[1] for text in quoted(page) if (match := re.fullmatch(r"make ([a-z-]+)", text))]
    for block in blocks(page):
        named += re.findall(r"(?m)^make ([a-z-]+)", block.text)
    assert set(named) <= there


@every_page
def test_commands_that_are_named_exist(page: Path) -> None:
    for text in quoted(page):
        if text.startswith("bullion "):
            assert command_of(text) is not None, f"{name_of(page)}: there is no command {text}"
    for block in blocks(page):
        for line in block.text.splitlines():
            if block.language == "sh" and line.startswith("bullion "):
                assert command_of(line) is not None, f"{block.place}: there is no command {line}"


# --- The README -----------------------------------------------------------------------------------------


def test_the_readme_names_the_test_command_once() -> None:
    assert (ROOT / "README.md").read_text("utf-8").count("make test") == 1


def test_the_decisions_are_all_listed() -> None:
    folder = ROOT / "docs/adr"
    listed = {link for link in links(folder / "README.md") if re.match(r"[0-9]", link)}
    assert listed == {page.name for page in folder.glob("[0-9]*.md")}


# --- Settings and commands ------------------------------------------------------------------------------


def test_every_setting_is_in_the_desks_guide_with_its_default() -> None:
    shown = {row[0].strip("`"): row[1] for row in table_rows(DESK) if row[0].startswith("`BULLION_")}
    usual = {f"BULLION_{field.name.upper()}": _as_shown(field.default) for field in fields(Settings)}
    assert shown == usual
    assert set(usual) == set(_READERS)


def test_every_secret_that_can_be_in_a_file_is_in_the_desks_guide() -> None:
    told = DESK.read_text("utf-8")
    assert [name for name in (*SECRETS, *SECRET_FILES) if f"`{name}`" not in told] == []


def _as_shown(default: object) -> str:
    if default is None or default == ():
        return "unset"
    if isinstance(default, bool):
        return "`on`" if default else "`off`"
    return f"`{default}`"


def test_every_setting_is_in_the_example_with_its_default(tmp_path: Path) -> None:
    lines = re.findall(r"(?m)^#(BULLION_.+)$", ENV_EXAMPLE.read_text("utf-8"))
    assert sorted(line.partition("=")[0] for line in lines) == sorted(_READERS)
    uncommented = tmp_path / ".env"
    uncommented.write_text("\n".join(lines), "utf-8")
    assert read_settings({}, uncommented) == Settings()


@pytest.mark.parametrize("page", [*PAGES, ENV_EXAMPLE], ids=name_of)
def test_settings_that_are_named_exist(page: Path) -> None:
    assert (
        set(re.findall(r"(?<!_)BULLION_[A-Z_]*[A-Z]", page.read_text("utf-8")))
        <= set(_READERS) | set(SECRET_FILES) | _NOT_OURS
    )


def test_every_command_is_in_the_desks_guide() -> None:
    named = {text.split()[1] for text in quoted(DESK) if text.startswith("bullion ")}
    assert {name for name, command in command_line.commands.items() if not command.hidden} <= named


# --- Calls, refusals, events ----------------------------------------------------------------------------


def test_the_desks_guide_has_every_call_of_the_desk_and_no_other() -> None:
    there = {f"{route.method} {BASE}{route.path}" for route in desk_routes()}
    assert {text for text in quoted(DESK) if re.match(rf"[A-Z]+ {BASE}/", text)} == there


def _statuses(page: Path) -> list[tuple[str, int]]:
    """The rows of tables of refusals: code and status."""
    rows = [row for row in table_rows(page) if re.fullmatch(r"[1-5][0-9]{2}", row[1])]
    return [(row[0].strip("`"), int(row[1])) for row in rows]


def test_the_clients_guide_has_its_refusals_with_their_status_and_in_their_order() -> None:
    shown = _statuses(TRADING_API)
    assert shown == [(row.code, row.status) for row in CATALOGUE if row.code in dict(shown)]
    assert {row.code for row in CATALOGUE if row.status == 401} <= set(dict(shown))


def _met_by(path: str, method: str) -> set[str]:
    """The codes of the refusals that a call can meet, by its description."""
    answers = openapi()["paths"][path][method]["responses"].values()
    contents = [content for answer in answers for content in answer["content"].values()]
    there = {row.code for row in CATALOGUE}
    return {code for content in contents for code in content.get("examples", {})} & there


CALLS = [
    (method, path)
    for path, item in openapi()["paths"].items()
    for method in ("get", "post", "patch", "delete")
    if method in item and path.startswith("/api/")
]


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_the_clients_guide_names_every_refusal_that_a_call_can_meet(method: str, path: str) -> None:
    met = _met_by(path, method)
    assert "rate_limited" in met
    assert met <= set(quoted(TRADING_API))


def test_every_call_has_its_section() -> None:
    headings = re.findall(r"(?m)^## `([A-Z]+) \{base\}(/\S+)`", prose(TRADING_API))
    described = {(method.upper(), re.sub(r"^/api/trading/(?:test/)?v1", "", path)) for method, path in CALLS}
    assert set(headings) == described


def test_the_families_of_answers_have_every_refusal_of_an_order_once_and_advise_rightly() -> None:
    table = prose(CLIENT_GUIDE).partition("| Family |")[2].partition("\n\n")[0]
    rows = {line.split(" | ")[0].strip("| "): line.split(" | ")[1] for line in table.splitlines()[2:]}
    codes = {family: re.findall(r"`([a-z_]+)`", cell) for family, cell in rows.items()}
    listed = [code for family in codes.values() for code in family]
    of_both = _met_by("/api/trading/test/v1/orders", "post") | _met_by("/api/trading/v1/orders", "post")
    assert sorted(listed) == sorted(of_both)
    assert [answer.family for answer in ANSWERS] == list(rows)
    for answer in ANSWERS:
        drawn = set(re.findall(r"[a-z]+_[a-z_]+", answer.seen))
        assert drawn <= set(codes[answer.family]), answer.family
    advice = {
        "wait as told": Retry.SAME_KEY_AFTER,
        "wait a little": Retry.SAME_KEY,
        "decide anew": Retry.NEW_KEY,
    }
    assert advice.keys() < codes.keys()
    catalogue = {row.code: row.retry for row in CATALOGUE}
    for family, members in codes.items():
        assert {catalogue[code] for code in members} <= {advice.get(family, Retry.NEVER)}, family


def test_the_examples_of_the_allocation_are_right() -> None:
    table = prose(CLIENT_GUIDE).partition("| Net before |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]
    assert len(rows) > 5
    for before, order, after, passes in rows:
        side, weight = order.replace("`", "").split()
        change = int(weight) if side == "buy" else -int(weight)
        assert int(after.strip("`")) == int(before.strip("`")) + change
        admits = Position(int(before.strip("`")) * 10_000, 1000 * 10_000).admits(change * 10_000)
        assert passes.split(":")[0] == ("yes" if admits else "no"), order


def test_the_desks_guide_has_the_refusals_of_the_desk_with_their_status() -> None:
    own = [row for row in vars(desk_refusals).values() if isinstance(row, RefusalCode)]
    there = {row.code: row.status for row in CATALOGUE} | {row.code: row.status for row in own}
    shown = dict(_statuses(DESK))
    assert {row.code for row in own} <= set(shown)
    assert shown == {code: there[code] for code in shown}


def test_every_log_event_is_explained_and_no_other() -> None:
    source = "\n".join(path.read_text("utf-8") for path in ROOT.glob("src/bullion/**/*.py"))
    logged = set(re.findall(r'\b_?log\.\w+\(\s*"(\w+)"', source))
    section = prose(DESK).partition("| Event |")[2].partition("\n## ")[0]
    named = {name for line in section.splitlines() for name in re.findall(r"`(\w+)`", line.split(" | ")[0])}
    assert named == logged - {"call"}  # That one has a table of its own.


_NOT_METRICS = ("bullion_client", "bullion_conformance", "bullion_service", "bullion_desk_token")


def test_metrics_that_are_named_exist() -> None:
    """Which of them a node exports is compared with the table in `tests/metrics`."""
    gauges = (
        "gauges",
        "hand_over_gauges",
        "line_gauges",
        "report_gauges",
        "stream_gauges",
        "webhook_gauges",
    )
    files = ("web/calls.py", *(f"wiring/{name}.py" for name in gauges))
    source = "".join((ROOT / "src/bullion" / file).read_text("utf-8") for file in files)
    for page in PAGES:
        for name in {text for text in quoted(page) if re.fullmatch(r"bullion_[a-z_]+", text)}:
            known = f'"{name.removesuffix("_total")}"' in source
            assert known or name in _NOT_METRICS, name


# --- Views ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_every_view_for_people_is_in_the_desks_guide(engine: str) -> None:
    sql = "\n".join(step.sql for step in schema.steps(engine))
    made = set(re.findall(r"CREATE VIEW (readable_\w+)", sql))
    # The other view is for our own queries.
    assert set(re.findall(r"CREATE VIEW (\w+)", sql)) - made == {"block_levels"}
    assert {row[0].strip("`") for row in table_rows(DESK) if row[0].startswith("`readable_")} == made
    for page in PAGES:
        assert set(re.findall(r"readable_\w+", page.read_text("utf-8"))) <= made, name_of(page)


# --- The house ------------------------------------------------------------------------------------------


def _rooms() -> set[str]:
    linter = configparser.ConfigParser()
    linter.read(ROOT / ".importlinter", "utf-8")
    contract = linter["importlinter:contract:rooms"]
    return set(re.findall(r"\w+", contract["layers"])) | set(contract["exhaustive_ignores"].split())


def test_the_picture_of_the_house_has_every_room() -> None:
    picture = (ROOT / "docs/pictures/rooms.svg").read_text("utf-8")
    beside = set(re.findall(r"`bullion\.(\w+)` is not on any floor", prose(ARCHITECTURE)))
    assert _rooms() == set(re.findall(r'class="name middle"[^>]*>(\w+)<', picture)) | beside


def test_the_table_of_rooms_has_every_room_and_no_other() -> None:
    table = prose(ARCHITECTURE).partition("| Room |")[2].partition("\n\n")[0]
    rows = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`bullion\.(\w+)`", row)} == _rooms()


def test_the_table_of_ports_has_every_port() -> None:
    table = prose(ARCHITECTURE).partition("## Ports")[2].partition("\n## ")[0]
    for path in ROOT.glob("src/bullion/**/*.py"):
        for port in re.findall(r"(?m)^class (\w+)\(Protocol\)", path.read_text("utf-8")):
            assert f"`{port}`" in table, f"{path} has a port that docs/architecture.md does not know: {port}"


def test_the_numbers_of_booking_and_lists_are_those_of_the_code() -> None:
    text = prose(ARCHITECTURE)
    batches = (
        "| batches at once | {}, of up to {} orders | the same; of production orders {}, of up to {} orders |"
    )
    assert batches.format(*trading.TWO_BATCHES, *trading.ONE_BATCH) in text
    small, middle, large = BLOCK_SIZES
    assert f"blocks of\n  {small}, of {middle:,}, of {large:,}, and the whole book" in text
    assert "No order waits longer than six seconds" in text
    assert queue.DEADLINE_S == 6
    assert f"About {traces.BYTES_KEPT // 2**20} MiB are kept" in text
    assert f"beyond a queue of {traces._WAITING_MAX:,}" in text


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    client = tomllib.loads((ROOT / "client/pyproject.toml").read_text("utf-8"))["project"]
    named = set(quoted(ROOT / "docs/adr/0002-dependencies.md"))
    groups = [project["project"]["dependencies"], *project["dependency-groups"].values()]
    groups += [client["dependencies"], *client["optional-dependencies"].values()]
    for requirement in (each for group in groups for each in group):
        match = re.match(r"[\w-]+", requirement)
        assert match is not None
        assert match[0] in named, f"docs/adr/0002-dependencies.md does not say why we need {match[0]}"
