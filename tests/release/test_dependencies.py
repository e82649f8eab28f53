"""The bounds of what we depend on: a package whose inner parts we use may not change unseen."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement

from tools.release.distributions import ROOT
from tools.release.requirements import LOCK

INNER_PARTS = {
    "asyncpg": {"src/bullion/store/postgres_stalls.py": "connection._transport"},
    "prometheus-client": {"src/bullion/web/metrics.py": "histogram._sum"},
    "uvicorn": {
        "src/bullion/serve.py": "async def shutdown(",
        "src/bullion/web/protocol.py": "from uvicorn.server import ServerState",
    },
}
"""Where we use what a package does not promise to keep. Private names are marked SLF001 in the source."""
DEPENDENCIES = {
    each.name: each
    for each in map(
        Requirement, tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    )
}


@pytest.mark.parametrize("name", INNER_PARTS)
def test_a_package_whose_inner_parts_we_use_has_an_upper_bound(name: str) -> None:
    (bound,) = [each for each in DEPENDENCIES[name].specifier if each.operator == "<"]
    (version,) = re.findall(rf"^{name}==(\S+)", LOCK.read_text("utf-8"), re.MULTILINE)
    minor = int(version.split(".")[1])
    assert bound.version == f"{version.split('.')[0]}.{minor + 1}", "the bound is the next minor version"


def test_the_inner_parts_are_those_that_the_source_uses() -> None:
    for files in INNER_PARTS.values():
        for file, used in files.items():
            assert used in (ROOT / file).read_text("utf-8"), file
    private = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "src/bullion").rglob("*.py")
        if "SLF001" in file.read_text("utf-8")
    }
    assert private == {
        file
        for files in INNER_PARTS.values()
        for file in files
        if "SLF001" in (ROOT / file).read_text("utf-8")
    }


def test_no_other_package_is_bounded() -> None:
    """A bound keeps others from using our package with a newer version, so it needs a reason."""
    bounded = {
        name for name, each in DEPENDENCIES.items() if any("<" in one.operator for one in each.specifier)
    }
    assert bounded == set(INNER_PARTS)
