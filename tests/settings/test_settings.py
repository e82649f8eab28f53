"""The settings: their defaults, what each may be, and sentences that name what is wrong."""

from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from bullion.settings import SECRETS, Settings, WrongSetting, read_settings

TOKEN = "a-token-of-at-least-24-characters"
SECRET = "a-deployment-secret-of-at-least-32-characters"


def read(folder: Path, **environ: str) -> Settings:
    return read_settings(environ, folder / ".env")


def refused(folder: Path, **environ: str) -> str:
    with pytest.raises(WrongSetting) as caught:
        read(folder, **environ)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_without_any_setting_there_are_defaults(tmp_path: Path) -> None:
    settings = read(tmp_path)
    assert {name: getattr(settings, name) for name in DEFAULTS} == DEFAULTS


DEFAULTS: dict[str, Any] = {
    "reports_url": None,
    "database_url": "sqlite:///var/bullion.db",
    "redis_url": None,
    "host": "127.0.0.1",
    "port": 8000,
    "desk_port": 8001,
    "workers": 1,
    "broker": "main",
    "production": False,
    "hedge": "simulated",
    "feed": "simulated",
    "desk_token": None,
    "secret": None,
    "trusted_proxies": (),
    "connections_per_address": 1000,
    "log_calls": "refused",
}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("database_url", "sqlite:////srv/bullion/store.db", "sqlite:////srv/bullion/store.db"),
        ("host", "0.0.0.0", "0.0.0.0"),  # noqa: S104 - a setting like another
        ("host", "::1", "::1"),
        ("port", "0", 0),
        ("port", "65535", 65535),
        ("desk_port", "9", 9),
        ("workers", "1", 1),
        ("broker", "mehta-2", "mehta-2"),
        ("broker", "a" * 32, "a" * 32),
        ("production", "on", True),
        ("production", "off", False),
        ("hedge", "desk", "desk"),
        ("feed", "desk", "desk"),
        ("desk_token", TOKEN, TOKEN),
        ("desk_token", "x" * 24, "x" * 24),
        ("secret", SECRET, SECRET),
        ("secret", "x" * 32, "x" * 32),
        ("trusted_proxies", "10.0.0.5", (ip_network("10.0.0.5"),)),
        ("connections_per_address", "65536", 65_536),
        (
            "trusted_proxies",
            "10.0.0.5, 10.1.0.0/16 ,2001:db8::/32",
            (ip_network("10.0.0.5"), ip_network("10.1.0.0/16"), ip_network("2001:db8::/32")),
        ),
        ("log_calls", "all", "all"),
        ("port", " 8080 ", 8080),
    ],
)
def test_a_setting_is_read(tmp_path: Path, name: str, text: str, value: object) -> None:
    settings = read(tmp_path, **{f"BULLION_{name.upper()}": text})
    assert getattr(settings, name) == value
    others = {other: default for other, default in DEFAULTS.items() if other != name}
    assert {other: getattr(settings, other) for other in others} == others


@pytest.mark.parametrize("name", DEFAULTS)
def test_an_empty_setting_is_one_that_is_not_set(tmp_path: Path, name: str) -> None:
    for blank in ("", "  "):
        assert getattr(read(tmp_path, **{f"BULLION_{name.upper()}": blank}), name) == DEFAULTS[name]


PORT = "0 to 65535"
WRONG: dict[str, tuple[str, str, str]] = {
    "a port in words": ("PORT", "eighty", PORT),
    "a negative port": ("PORT", "-1", PORT),
    "a port past the last": ("PORT", "65536", PORT),
    "half a port": ("PORT", "80.5", PORT),
    "a port in other digits": ("PORT", "८०", PORT),
    "a desk's port in words": ("DESK_PORT", "http", PORT),
    "no worker": ("WORKERS", "0", "1 to"),
    "a negative worker": ("WORKERS", "-2", "1 to"),
    "many workers in words": ("WORKERS", "many", "1 to"),
    "a broker in capitals": ("BROKER", "Main", "a-z, 0-9 and -"),
    "a broker of two words": ("BROKER", "my broker", "a-z, 0-9 and -"),
    "a long broker": ("BROKER", "a" * 33, "32"),
    "production in other words": ("PRODUCTION", "true", "on, off"),
    "production in capitals": ("PRODUCTION", "ON", "on, off"),
    "an unknown venue": ("HEDGE", "mcx", "simulated, desk"),
    "an unknown feed": ("FEED", "reuters", "simulated, desk"),
    "a short desk token": ("DESK_TOKEN", "x" * 23, "24"),
    "a desk token in another script": ("DESK_TOKEN", "é" * 30, "ASCII"),
    "a desk token on two lines": ("DESK_TOKEN", "x" * 24 + "\n" + "y" * 24, "printable"),
    "a short secret": ("SECRET", "x" * 31, "32"),
    "a secret in another script": ("SECRET", "é" * 40, "ASCII"),
    "a proxy that is none": ("TRUSTED_PROXIES", "proxy.example", "CIDR"),
    "host bits in a proxy's block": ("TRUSTED_PROXIES", "10.0.0.1/8", "CIDR"),
    "no connection at all": ("CONNECTIONS_PER_ADDRESS", "0", "1 to 65536"),
    "a comma too many": ("TRUSTED_PROXIES", "10.0.0.1,", "CIDR"),
    "unknown logs": ("LOG_CALLS", "none", "refused, all"),
    "an unknown database": ("DATABASE_URL", "mysql://user:hunter2@db/bullion", "sqlite:///"),
    "reports in a file": ("REPORTS_URL", "sqlite:///var/bullion.db", "postgresql://"),
    "a database without a name": ("DATABASE_URL", "sqlite:///", "sqlite:///"),
    "a path alone": ("DATABASE_URL", "var/bullion.db", "sqlite:///"),
    "a database in memory": ("DATABASE_URL", "sqlite:///:memory:", "sqlite:///"),
    "a trading API that is none": ("CONSOLE_API_URL", "127.0.0.1:8000", "BULLION_CONSOLE_API_URL"),
    "a trading API with a question": ("CONSOLE_API_URL", "http://here/?x", "BULLION_CONSOLE_API_URL"),
    "a hedge that is late at once": ("CONSOLE_LATE_S", "0", "1 to 86400"),
    "a Redis that is none": ("REDIS_URL", "http://:hunter2@cache", "BULLION_REDIS_URL"),
}


@pytest.mark.parametrize(("name", "text", "allowed"), WRONG.values(), ids=WRONG)
def test_a_wrong_setting_is_named_with_what_is_allowed(
    tmp_path: Path, name: str, text: str, allowed: str
) -> None:
    message = refused(tmp_path, **{f"BULLION_{name}": text})
    assert message.startswith(f"BULLION_{name} ")
    assert allowed in message


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("DESK_TOKEN", "hunter2"),
        ("SECRET", "hunter2"),
        ("SECRET", "hunter2é" * 8),
        ("DATABASE_URL", "mysql://user:hunter2@db/bullion"),
        ("REPORTS_URL", "mysql://user:hunter2@db/bullion"),
        ("REDIS_URL", "http://:hunter2@cache"),
    ],
)
def test_a_secret_is_not_repeated(tmp_path: Path, name: str, text: str) -> None:
    assert "hunter2" not in refused(tmp_path, **{f"BULLION_{name}": text})


def test_settings_do_not_show_their_secrets(tmp_path: Path) -> None:
    settings = read(tmp_path, BULLION_DESK_TOKEN=TOKEN, BULLION_SECRET=SECRET)
    for shown in (repr(settings), str(settings), f"{settings}"):
        assert TOKEN not in shown
        assert SECRET not in shown


@pytest.mark.parametrize(
    ("unknown", "meant"),
    [
        ("BULLION_PROT", "BULLION_PORT"),
        ("BULLION_DESKPORT", "BULLION_DESK_PORT"),
        ("BULLION_DATABASE", "BULLION_DATABASE_URL"),
        ("BULLION_TRUSTED_PROXY", "BULLION_TRUSTED_PROXIES"),
        ("BULLION_SECRETS", "BULLION_SECRET"),
        ("BULLION_port", "BULLION_PORT"),
    ],
)
def test_a_mistyped_name_is_told_from_the_right_one(tmp_path: Path, unknown: str, meant: str) -> None:
    message = refused(tmp_path, **{unknown: "1"})
    assert message == f"{unknown} is not a setting of Bullion. Did you mean {meant}?"


def test_a_name_like_no_other_gets_the_list(tmp_path: Path) -> None:
    message = refused(tmp_path, BULLION_ZZZZZZZZ="1")
    assert message.startswith("BULLION_ZZZZZZZZ is not a setting of Bullion.")
    for name in DEFAULTS:
        assert f"BULLION_{name.upper()}" in message


def test_the_value_of_a_mistyped_name_is_not_repeated(tmp_path: Path) -> None:
    assert "hunter2" not in refused(tmp_path, BULLION_SECRETT="hunter2")


def test_what_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    assert read(tmp_path, PORT="eighty", BULLIONPORT="eighty", PATH="/bin").port == 8000


def test_the_clients_own_settings_may_stand_beside_ours(tmp_path: Path) -> None:
    assert read(tmp_path, BULLION_BASE_URL="http://x", BULLION_API_KEY="key").port == 8000


def test_a_file_is_read_and_the_environment_wins(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "# our settings\n"
        "BULLION_PORT=8100\n"
        "BULLION_DESK_PORT='8101'\n"
        'export BULLION_BROKER="mehta"  # the firm\n'
        "OTHER=1\n"
        "BULLION_HEDGE=\n"
    )
    settings = read(tmp_path, BULLION_PORT="8200")
    assert (settings.port, settings.desk_port, settings.broker, settings.hedge) == (
        8200,
        8101,
        "mehta",
        "simulated",
    )


def test_an_empty_environment_variable_wins_too(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("BULLION_PORT=8100\n")
    assert read(tmp_path, BULLION_PORT="").port == 8000


def test_a_wrong_setting_in_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("BULLION_PORT=eighty\n")
    assert refused(tmp_path).startswith("BULLION_PORT is 'eighty'")


def test_a_mistyped_name_in_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("BULLION_PROT=80\n")
    assert "Did you mean BULLION_PORT?" in refused(tmp_path)


@pytest.mark.parametrize("line", ["BULLION PORT=8100", 'BULLION_SECRET="not-to-be-shown', "=8100"])
def test_a_line_of_the_file_that_cannot_be_read_is_refused(tmp_path: Path, line: str) -> None:
    """Otherwise the service would start without that setting."""
    (tmp_path / ".env").write_text(f"BULLION_DESK_PORT=8101\n\n{line}\n")
    message = refused(tmp_path)
    assert f"{tmp_path / '.env'}, line 3, cannot be read" in message
    assert "shown" not in message


def test_a_secret_in_the_file_is_taken_as_it_is_written(tmp_path: Path) -> None:
    """A file's value is not a template: `$` and braces in a secret are a part of it."""
    secret = "a-secret-with-${HOME}-and-$PATH-in-it-1234"
    (tmp_path / ".env").write_text(f"BULLION_SECRET={secret}\n")
    assert read(tmp_path).secret == secret


def test_a_file_that_is_not_text_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"BULLION_PORT=\xff\xfe\n")
    assert ".env" in refused(tmp_path)


def test_without_a_file_the_environment_alone_counts(tmp_path: Path) -> None:
    assert not (tmp_path / ".env").exists()
    assert read(tmp_path, BULLION_PORT="8300").port == 8300


def test_a_folder_named_like_the_file_is_no_file(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()
    assert read(tmp_path).port == 8000


def test_the_two_ports_must_differ(tmp_path: Path) -> None:
    message = refused(tmp_path, BULLION_PORT="8001")
    assert message == "BULLION_PORT and BULLION_DESK_PORT must be two different ports."
    assert read(tmp_path, BULLION_PORT="0", BULLION_DESK_PORT="0").desk_port == 0


def test_sqlite_and_budgets_in_memory_serve_one_worker(tmp_path: Path) -> None:
    message = refused(tmp_path, BULLION_WORKERS="2")
    assert message.startswith("BULLION_WORKERS is 2")
    assert "1" in message.removeprefix("BULLION_WORKERS is 2")


def test_reports_are_read_at_a_standby_of_postgresql(tmp_path: Path) -> None:
    standby = "postgresql://user@db-b,db-c/bullion"
    told = "BULLION_REPORTS_URL names a standby of PostgreSQL, so BULLION_DATABASE_URL must be its primary."
    assert refused(tmp_path, BULLION_REPORTS_URL=standby) == told
    primary = "postgresql://user@db-a/bullion"
    settings = read(tmp_path, BULLION_DATABASE_URL=primary, BULLION_REPORTS_URL=standby)
    assert (settings.database_url, settings.reports_url) == (primary, standby)


# --- Secrets in files -----------------------------------------------------------------------------------


VALUES = {
    "DATABASE_URL": "postgresql://user:hunter2@db/bullion",
    "REDIS_URL": "redis://:hunter2@cache/0",
    "REPORTS_URL": "postgresql://user:hunter2@standby/bullion",
    "DESK_TOKEN": TOKEN,
    "SECRET": SECRET,
    "SECRET_OLD": SECRET[::-1],
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("end", ["", "\n", "\r\n"], ids=["no end", "LF", "CRLF"])
def test_a_secret_can_be_in_a_file(tmp_path: Path, name: str, end: str) -> None:
    file = tmp_path / "value"
    file.write_bytes(f"{VALUES[name]}{end}".encode())
    needed = {"SECRET_OLD": "SECRET", "REPORTS_URL": "DATABASE_URL"}
    new = {f"BULLION_{needed[name]}": VALUES[needed[name]]} if name in needed else {}
    settings = read(tmp_path, **new, **{f"BULLION_{name}_FILE": str(file)})
    assert getattr(settings, name.lower()) == VALUES[name]


def test_all_secrets_can_be_in_files() -> None:
    assert {name.removeprefix("BULLION_") for name in SECRETS} == set(VALUES)


def test_the_name_of_the_file_can_be_in_the_other_file(tmp_path: Path) -> None:
    (tmp_path / "value").write_text(SECRET)
    (tmp_path / ".env").write_text(f"BULLION_SECRET_FILE={tmp_path / 'value'}\n")
    assert read(tmp_path).secret == SECRET


def test_a_setting_and_its_file_are_refused_together(tmp_path: Path) -> None:
    """Also one in the environment and one in `.env`: it would not be plain which one counts."""
    (tmp_path / "value").write_text(SECRET)
    told = "BULLION_SECRET and BULLION_SECRET_FILE are both set: remove one of them."
    place = str(tmp_path / "value")
    assert refused(tmp_path, BULLION_SECRET=SECRET, BULLION_SECRET_FILE=place) == told
    (tmp_path / ".env").write_text(f"BULLION_SECRET={SECRET}\n")
    assert refused(tmp_path, BULLION_SECRET_FILE=place) == told
    assert read(tmp_path, BULLION_SECRET_FILE="").secret == SECRET
    assert read(tmp_path, BULLION_SECRET="", BULLION_SECRET_FILE=place).secret == SECRET


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    message = refused(tmp_path, BULLION_SECRET_FILE=str(gone))
    assert message == f"BULLION_SECRET_FILE: {gone} cannot be read (No such file or directory)."
    assert "cannot be read (Is a directory)" in refused(tmp_path, BULLION_SECRET_FILE=str(tmp_path))
    gone.write_bytes(b"\xff\xfe" * 20)
    message = refused(tmp_path, BULLION_SECRET_FILE=str(gone))
    assert message == f"BULLION_SECRET_FILE: {gone} is not a text file in UTF-8."
    gone.write_text(" \n")
    assert refused(tmp_path, BULLION_SECRET_FILE=str(gone)) == f"BULLION_SECRET_FILE: {gone} is empty."


def test_a_wrong_value_in_a_file_is_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "value").write_text("hunter2")
    for name in VALUES:
        message = refused(tmp_path, **{f"BULLION_{name}_FILE": str(tmp_path / "value")})
        assert message.startswith(f"BULLION_{name} ")
        assert "hunter2" not in message


def test_other_settings_have_no_file(tmp_path: Path) -> None:
    assert "not a setting" in refused(tmp_path, BULLION_PORT_FILE="/dev/null")
