"""The table is whole: each requirement is checked, or says why not; and each is told once, in words."""

import re
from collections import Counter
from pathlib import Path

import bullion_conformance
from bullion_conformance.check import Need, Phase
from bullion_conformance.checks import CHECKS
from bullion_conformance.codes import CODES
from bullion_conformance.requirement import REQUIREMENTS, Profile

PACKAGE = Path(bullion_conformance.__file__).parent


def test_every_requirement_has_a_check_or_a_reason() -> None:
    without_reason = {each.id for each in REQUIREMENTS.values() if each.unchecked is None}
    assert without_reason == set(CHECKS)


def test_no_id_appears_twice() -> None:
    source = (PACKAGE / "requirements.toml").read_text("utf-8")
    ids = re.findall(r'(?m)^"([^"]+)" = ', source)
    assert [id_ for id_, times in Counter(ids).items() if times > 1] == []
    assert len(REQUIREMENTS) == len(ids) + sum(1 + code.in_test for code in CODES)


def test_ids_and_words_are_well_formed() -> None:
    for requirement in REQUIREMENTS.values():
        assert re.fullmatch(r"[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)+", requirement.id), requirement.id
        assert requirement.words.endswith("."), requirement.id
        assert requirement.words[0].isupper() or requirement.words[0] in "`/45", requirement.id
        assert (requirement.profile is Profile.BULLION) == requirement.id.startswith("bullion.")


def test_every_code_of_the_specification_is_there_in_each_environment() -> None:
    assert len(CODES) == 45
    for code in CODES:
        assert f"errors.production.{code.name}" in REQUIREMENTS
        assert (f"errors.test.{code.name}" in REQUIREMENTS) == code.in_test


def test_what_spoils_others_runs_late() -> None:
    for check in CHECKS.values():
        assert check.phase >= Phase.REFUSED or not check.refusals, check.id
    assert {check.need for check in CHECKS.values() if check.phase is Phase.BURNS} <= {
        Need.DESK,
        Need.PRODUCTION,
    }


def test_the_kit_knows_nothing_of_the_service() -> None:
    """Beside the contract of import-linter: not even by name at run time."""
    for file in PACKAGE.rglob("*.py"):
        assert not re.search(r"(?m)^\s*(from|import) bullion(\.| |_client)", file.read_text("utf-8")), file
