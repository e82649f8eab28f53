"""`bullion serve` that cannot start: one sentence on standard error, exit code 2, no traceback."""

import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.command import bullion, sentence
from tests.support.desk import first_caller
from tests.support.node import SECRET, running

FREE = {"BULLION_PORT": "0", "BULLION_DESK_PORT": "0"}


@pytest.mark.parametrize("command", ["serve", "demo", "migrate", "audit verify"])
def test_a_wrong_setting_stops_every_command(tmp_path: Path, command: str) -> None:
    said = sentence(bullion(tmp_path, *command.split(), BULLION_PORT="eighty"))
    assert said == "BULLION_PORT is 'eighty', but must be a whole number from 0 to 65535."
    assert list(tmp_path.iterdir()) == []


def test_a_mistyped_setting_stops_the_start(tmp_path: Path) -> None:
    said = sentence(bullion(tmp_path, "serve", BULLION_PROT="80"))
    assert said == "BULLION_PROT is not a setting of Bullion. Did you mean BULLION_PORT?"


def test_a_setting_in_the_file_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("BULLION_HEDGE=mcx\n")
    said = sentence(bullion(tmp_path, "serve"))
    assert said == "BULLION_HEDGE is 'mcx', but must be one of: simulated, desk, fix."


@pytest.mark.parametrize("setting", ["BULLION_PORT", "BULLION_DESK_PORT"])
def test_a_port_that_is_taken_is_named(tmp_path: Path, setting: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = sentence(bullion(tmp_path, "serve", **(FREE | {setting: port})))
    assert said.startswith(f"{setting}: ")
    assert port in said
    assert "in use" in said


@pytest.mark.parametrize("setting", ["BULLION_HOST", "BULLION_DESK_HOST"])
@pytest.mark.parametrize("host", ["nowhere.invalid", "203.0.113.7"])
def test_a_host_that_is_not_ours_is_named(tmp_path: Path, host: str, setting: str) -> None:
    said = sentence(bullion(tmp_path, "serve", **(FREE | {setting: host})))
    assert said.startswith(f"{setting}: ")
    assert host in said


def test_the_desk_listens_on_an_address_of_its_own(tmp_path: Path) -> None:
    # The same port of the API's address is taken: a desk that listened there as well could not start.
    with socket.create_server(("127.0.0.1", 0)) as taken:
        desk_at = {"BULLION_DESK_HOST": "127.0.0.3", "BULLION_DESK_PORT": str(taken.getsockname()[1])}
        with running(tmp_path, **desk_at) as node, node.desk() as desk:
            assert urlsplit(node.api_url).hostname == "127.0.0.1"
            assert node.desk_url == "http://{BULLION_DESK_HOST}:{BULLION_DESK_PORT}".format_map(desk_at)
            assert desk.do("GET", "/groups")["total"] == 0


def test_a_second_node_on_the_same_file_is_refused_in_words(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        said = sentence(bullion(tmp_path, "serve", BULLION_SECRET=SECRET, **FREE))
        assert said.startswith("BULLION_DATABASE_URL: another node serves var/bullion.db")
        assert "stop that one first" in said
        assert node.process.poll() is None
    # Once the first has stopped, the store is free again.
    with running(tmp_path):
        pass


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("serve", "a-file/store.db"),
        ("migrate", "a-file/store.db"),
        ("serve", "/proc/nowhere/store.db"),
        ("serve", "a-folder"),
        ("serve", "no-store.db"),
    ],
)
def test_a_store_that_cannot_be_is_told_in_words(tmp_path: Path, command: str, path: str) -> None:
    (tmp_path / "a-file").write_text("not a folder")
    (tmp_path / "a-folder").mkdir()
    (tmp_path / "no-store.db").write_text("this is a text and no database " * 10)
    settings = {"BULLION_DATABASE_URL": f"sqlite:///{path}", "BULLION_SECRET": SECRET, **FREE}
    said = sentence(bullion(tmp_path, command, **settings))
    assert "BULLION_DATABASE_URL" in said
    assert path in said
    assert (tmp_path / "a-file").read_text() == "not a folder"


def test_a_start_with_another_secret_is_refused_in_words(tmp_path: Path) -> None:
    assert bullion(tmp_path, "migrate", BULLION_SECRET=SECRET).returncode == 0
    said = sentence(bullion(tmp_path, "serve", BULLION_SECRET=SECRET[::-1], **FREE))
    assert said.startswith("BULLION_SECRET ")
    assert SECRET not in said
    assert SECRET[::-1] not in said


def test_a_secret_that_is_made_is_kept_for_the_next_start(tmp_path: Path) -> None:
    assert bullion(tmp_path, "migrate").returncode == 0
    made = (tmp_path / "var" / "secret").read_text()
    assert len(made) >= 32
    assert bullion(tmp_path, "migrate").returncode == 0
    assert (tmp_path / "var" / "secret").read_text() == made


def test_a_lost_secret_is_not_replaced_in_silence(tmp_path: Path) -> None:
    """A new one would fit no key of the store, and would be taken for the old one ever after."""
    bullion(tmp_path, "migrate")
    (tmp_path / "var" / "secret").unlink()
    said = sentence(bullion(tmp_path, "serve", **FREE))
    assert "BULLION_SECRET" in said
    assert not (tmp_path / "var" / "secret").exists()


def test_a_store_may_have_any_name(tmp_path: Path) -> None:
    """Also the name of the file that keeps a second node out."""
    settings = {"BULLION_DATABASE_URL": "sqlite:///store.lock"}
    with running(tmp_path, **settings) as node, first_caller(node) as desk:
        desk.add_group()
        desk.account("client")
    with running(tmp_path, **settings) as node, first_caller(node) as desk:
        assert desk.do("GET", "/accounts/client")["login_id"] == "client"


def test_two_stores_beside_each_other_serve_two_nodes(tmp_path: Path) -> None:
    one, two = ({"BULLION_DATABASE_URL": f"sqlite:///store.{name}"} for name in ("one", "two"))
    with running(tmp_path, **one), running(tmp_path, **two) as second:
        assert second.process.poll() is None
