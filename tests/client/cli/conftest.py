"""A running service with a broker whose prices stand still, and a person at a shell who trades there."""

from collections.abc import Iterator
from pathlib import Path

import certifi
import pytest

from tests.client.cli.shell import Shell
from tests.client.cli.shop import Shop, opened_shop


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with opened_shop(tmp_path_factory.mktemp("shop")) as shop:
        yield shop


@pytest.fixture
def shell(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    """Somebody with a test key of a new account."""
    # Loading every certificate there is takes longer than most commands, and on loopback there is no TLS.
    first, end, _ = Path(certifi.where()).read_text("ascii").partition("-----END CERTIFICATE-----\n")
    (tmp_path / "certificate.pem").write_text(first + end, "ascii")
    return Shell(shop.api_url, shop.key(shop.account()), tmp_path, monkeypatch, capsys)


@pytest.fixture
def live_shell(shell: Shell, shop: Shop) -> Shell:
    """Somebody with a live key of a new account."""
    shell.key = shop.key(shop.account(), "production")
    return shell
