"""A release: what is built works in environments of its own, and says truly what it brings along.

The environments borrow the packages that a wheel asks for from the tests' own environment, so nothing is
downloaded. Bullion itself is there from the built wheels alone. `make release` installs the packages instead.
"""

import json
import re
import subprocess
import tarfile
import tomllib
import zipfile
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.release.distributions import (
    PROJECTS,
    ROOT,
    Distribution,
    NotReproducible,
    build,
    require_equal,
    require_reproducible,
)
from tools.release.environment import Environment
from tools.release.inventory import bill_of_materials, licence_of, licences, sha256, write_bill_of_materials
from tools.release.requirements import LOCK, locked, read_needs
from tools.release.trial import check_conformance, place_order, serve_demo

pytestmark = pytest.mark.one_worker("release")

OTEL_LOCK = LOCK.with_name("requirements-otel.txt")
MARKET_LOCK = LOCK.with_name("requirements-market.txt")
EXTRAS = {"bullion-client": ["cli"]}
MADE_AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
CHECKED = ("--only", "idempotency", "--only", "order", "--only", "positions")
"""Enough to see that the installed kit works. All of it is run by tests/conformance and `make release`."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Distribution]:
    return {each.name: each for each in build(tmp_path_factory.mktemp("dist"))}


@pytest.fixture(scope="module")
def installed(
    built: dict[str, Distribution], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Environment]:
    environments = {}
    for name, each in built.items():
        folder = tmp_path_factory.mktemp(name)
        environments[name] = Environment(folder, each.wheel, *EXTRAS.get(name, []))
        environments[name].borrow()
    return environments


def test_the_wheels_serve_trade_and_conform(installed: dict[str, Environment], tmp_path: Path) -> None:
    with serve_demo(installed["bullion"], tmp_path) as demo:
        order = place_order(installed["bullion-client"], demo)
        counts = check_conformance(installed["bullion-conformance"], demo, tmp_path / "report.json", *CHECKED)
    assert (order["symbol_code"], order["quantity"]) == ("GOLD", "5.0000")
    assert counts["passed"] > 20
    assert (counts["failed"], counts["error"]) == (0, 0)


def test_each_environment_has_one_of_them_and_no_source(installed: dict[str, Environment]) -> None:
    packages = {name: name.replace("-", "_") for name in installed}
    for name, environment in installed.items():
        looked = (
            "import importlib.util as u, sys\n"
            f"for name in {sorted(packages.values())}:\n"
            "    spec = u.find_spec(name)\n"
            "    print(name, spec and spec.origin)"
        )
        said = _run(environment, "python", "-c", looked)
        there = dict(line.split(" ", 1) for line in said.splitlines())
        assert [package for package, place in there.items() if place != "None"] == [packages[name]]
        assert Path(there[packages[name]]).is_relative_to(environment.programs.parent)


def test_without_the_kit_the_command_says_what_to_install(installed: dict[str, Environment]) -> None:
    done = subprocess.run(
        [installed["bullion"].programs / "bullion", "conformance", "--base-url", "http://x.example"],
        env=installed["bullion"].variables(),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "bullion: The conformance kit is not installed: pip install bullion-conformance.\n"


def test_two_builds_are_equal(built: dict[str, Distribution], tmp_path: Path) -> None:
    require_reproducible(list(built.values()), tmp_path)


def test_a_build_that_differs_is_found(built: dict[str, Distribution], tmp_path: Path) -> None:
    wheel = built["bullion-client"].wheel
    changed = tmp_path / wheel.name
    changed.write_bytes(wheel.read_bytes() + b"x")
    with pytest.raises(NotReproducible, match="bullion_client"):
        require_equal(wheel, changed)


def test_a_wheel_holds_its_own_package_and_licence(built: dict[str, Distribution]) -> None:
    for each in built.values():
        with zipfile.ZipFile(each.wheel) as opened:
            names = opened.namelist()
        own = {name.split("/")[0] for name in names if ".dist-info/" not in name}
        assert own == {each.name.replace("-", "_")}
        assert [name for name in names if name.endswith("licenses/LICENSE")]
        assert f"{each.name.replace('-', '_')}/py.typed" in names


def test_the_services_archive_has_what_an_operator_needs(built: dict[str, Distribution]) -> None:
    with tarfile.open(built["bullion"].archive) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {".env.example", "CHANGELOG.md", "LICENSE", "README.md", "src/bullion/__main__.py"} <= names
    assert not {name for name in names if name.startswith(("tests", ".venv", "src/bullion_client"))}


def test_each_distribution_asks_for_the_versions_that_are_locked() -> None:
    lock = "\n".join(each.read_text("utf-8") for each in (LOCK, OTEL_LOCK, MARKET_LOCK))
    asked: dict[str, set[str]] = {}
    for project in PROJECTS.values():
        described = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
        extras = described.get("optional-dependencies", {}).values()
        for text in [*described["dependencies"], *(each for extra in extras for each in extra)]:
            asked.setdefault(Requirement(text).name, set()).add(str(Requirement(text).specifier))
    for name, ranges in asked.items():
        assert len(ranges) == 1, f"{name} is asked for in different versions: {ranges}"
        assert name in PROJECTS or f"\n{name}==" in f"\n{lock}"


@pytest.mark.parametrize("extra", [OTEL_LOCK, MARKET_LOCK], ids=["otel", "market"])
def test_the_lock_with_an_extra_has_the_same_versions(extra: Path) -> None:
    """Whatever is in both: whoever adds the extra changes nothing else."""
    plain, with_extra = (
        dict(re.findall(r"^(\S+)==(\S+)", lock.read_text("utf-8"), re.MULTILINE)) for lock in (LOCK, extra)
    )
    shared = plain.keys() & with_extra.keys()
    assert {"asyncpg", "uvicorn", "structlog"} <= shared
    assert {name: plain[name] for name in shared} == {name: with_extra[name] for name in shared}


def test_the_lock_gives_the_packages_of_one_wheel_alone(built: dict[str, Distribution]) -> None:
    needs = read_needs(built["bullion-client"].wheel)
    assert {"httpx", "certifi"} <= set(needs.packages)
    assert not {"click", "rich", "uvicorn"} & set(needs.packages)
    entries = [line for line in locked(set(needs.packages)).splitlines() if "==" in line]
    assert [canonicalize_name(line.partition("==")[0]) for line in entries] == sorted(needs.packages)


# --- What comes along -----------------------------------------------------------------------------------


def test_the_bill_of_materials_names_every_package(built: dict[str, Distribution]) -> None:
    service = built["bullion"]
    needs = read_needs(service.wheel)
    bill = bill_of_materials(service, needs, MADE_AT)
    own = bill["metadata"]["component"]
    assert own["purl"] == f"pkg:pypi/bullion@{own['version']}"
    assert own["hashes"] == [{"alg": "SHA-256", "content": sha256(service.wheel)}]
    described = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    components = {each["bom-ref"]: each for each in bill["components"]}
    edges = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}
    direct = {canonicalize_name(components[ref]["name"]) for ref in edges[own["bom-ref"]]}
    assert direct == {Requirement(text).name for text in described}
    # All are reached, and none is named that is not described.
    assert {ref for refs in edges.values() for ref in refs} == set(components)
    assert set(edges) == {own["bom-ref"], *components}
    lock = f"\n{LOCK.read_text('utf-8')}"
    for each in components.values():
        assert f"\n{canonicalize_name(each['name'])}=={each['version']} " in lock


def test_the_bills_keep_the_schema_of_cyclonedx(built: dict[str, Distribution], tmp_path: Path) -> None:
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    for each in built.values():
        written = write_bill_of_materials(each, read_needs(each.wheel), MADE_AT, tmp_path)
        assert written.name == f"{each.name.replace('-', '_')}-{each.wheel.name.split('-')[1]}.cdx.json"
        assert validator.validate_str(written.read_text("utf-8")) is None
    assert validator.validate_str('{"bomFormat": "CycloneDX", "specVersion": "1.6", "what": 1}') is not None


def test_the_same_build_has_the_same_bill(built: dict[str, Distribution]) -> None:
    kit = built["bullion-conformance"]
    one, other = (bill_of_materials(kit, read_needs(kit.wheel), MADE_AT) for _ in range(2))
    assert json.dumps(one) == json.dumps(other)


def test_the_licences_have_their_texts(built: dict[str, Distribution]) -> None:
    needs = [read_needs(each.wheel) for each in built.values()]
    text = licences(needs)
    table, _, texts = text.partition("=" * 100)
    for each in needs:
        for package in each.packages.values():
            title = f"{package.metadata['Name']} {package.metadata['Version']}"
            assert f"\n{title} " in table
            assert f"\n{title}: " in texts


def test_a_package_without_a_licence_is_not_passed_over() -> None:
    described = Message()
    described["Name"] = "nobodys"
    with pytest.raises(LookupError, match="nobodys"):
        licence_of(described)
    described["Classifier"] = "License :: OSI Approved :: MIT License"
    assert licence_of(described) == "MIT License"


def _run(environment: Environment, program: str, *words: str) -> str:
    return subprocess.run(
        [environment.programs / program, *words],
        env=environment.variables(),
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
