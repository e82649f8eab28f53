"""The settings: environment variables that begin with BULLION_, read once at the start.

A `.env` file in the working directory is read too; the environment overrides it. A secret may be in a file
of its own, which `<setting>_FILE` names. A wrong setting stops the start with a sentence that names the
setting and its allowed values.
"""

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import StringIO
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dotenv.parser import parse_stream

from bullion.budgets.redis_address import read_address
from bullion.hedge.venues import VENUES
from bullion.keys.key import Network
from bullion.keys.text import BROKER_TAG

_PREFIX = "BULLION_"
_NOT_OURS = {"BULLION_BASE_URL", "BULLION_API_KEY", "BULLION_TOKEN", "BULLION_WEBHOOK_SECRET"}
"""Read by other command lines, which may share the environment."""
SECRETS = (
    "BULLION_DATABASE_URL",
    "BULLION_REDIS_URL",
    "BULLION_REPORTS_URL",
    "BULLION_DESK_TOKEN",
    "BULLION_SECRET",
    "BULLION_SECRET_OLD",
)
"""Each may hold a secret, so each can be read from a file."""
SECRET_FILES = {f"{name}_FILE": name for name in SECRETS}
_DESK_TOKEN_LENGTH_MIN = 24
_SECRET_LENGTH_MIN = 32


class WrongSetting(Exception):
    """A setting is wrong. The message is shown to the operator."""


@dataclass(frozen=True, slots=True)
class Settings:
    database_url: str = "sqlite:///var/bullion.db"
    redis_url: str | None = None
    reports_url: str | None = None
    """A standby of the store, for the desk's reports."""
    host: str = "127.0.0.1"
    port: int = 8000
    desk_host: str | None = None
    """None: the desk listens on `host` too."""
    desk_port: int = 8001
    console_port: int = 8002
    console_api_url: str | None = None
    console_late_s: int = 30
    console_session_s: int = 12 * 3600
    console_idle_s: int = 3600
    workers: int = 1
    drain_s: int = 0
    broker: str = "main"
    production: bool = False
    hedge: str = "simulated"
    feed: str = "simulated"
    market: str | None = None
    """The file with FIX lines and sources of live rates: see `bullion.market_file`."""
    line_host: str = "127.0.0.1"
    """Where other nodes reach the FIX lines that this node holds."""
    minute_rates_days: int = 7
    """How long candles of each kind are kept."""
    hour_rates_days: int = 400
    day_rates_days: int = 3660
    event_days: int = 30
    """How long the events of accounts can be read."""
    webhook_allow_private: bool = False
    """Whether webhooks may lead to private addresses, and over HTTP without TLS."""
    feed_seed: int = 1
    desk_token: str | None = None
    secret: str | None = None
    secret_old: str | None = None
    trusted_proxies: tuple[Network, ...] = ()
    connections_per_address: int = 1000
    streams_per_key: int = 5
    log_calls: str = "refused"
    log_level: str = "info"
    otel: bool = False

    @property
    def sqlite(self) -> bool:
        return self.database_url.startswith("sqlite:")

    @property
    def shared(self) -> bool:
        """Whether several nodes are possible: with PostgreSQL, and with rate limits counted in Redis."""
        return not self.sqlite and self.redis_url is not None

    def __repr__(self) -> str:
        return f"Settings({self.database_url.partition(':')[0]}, {self.host}, {self.port}, {self.desk_port})"


def read_settings(environ: Mapping[str, str], env_file: Path = Path(".env")) -> Settings:
    given: dict[str, str] = {}
    if env_file.is_file():
        given |= _read_file(env_file)
    given |= environ
    given = {name: value for name, value in given.items() if name.startswith(_PREFIX)}
    _read_secret_files(given)
    fields: dict[str, Any] = {}
    for name, value in given.items():
        if name in _NOT_OURS:
            continue
        reader = _READERS.get(name)
        if reader is None:
            raise WrongSetting(_unknown(name))
        if value.strip():  # An empty value means: not set.
            fields[name.removeprefix(_PREFIX).lower()] = reader(name, value.strip())
    settings = Settings(**fields)
    _check_combinations(settings)
    return settings


def _read_file(env_file: Path) -> dict[str, str]:
    try:
        text = env_file.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise WrongSetting(f"{env_file} cannot be read as a text file in UTF-8.") from error
    found: dict[str, str] = {}
    # Only parsed: to replace variables in a value would change a secret with a dollar sign.
    for each in parse_stream(StringIO(text)):
        if each.error:
            where = each.original
            empty = where.string[: -len(where.string.lstrip())].count("\n")  # Lines before it.
            # Without what is in it, which may be a secret.
            raise WrongSetting(
                f"{env_file}, line {where.line + empty}, cannot be read: write NAME=value, and a value with "
                "spaces in quotes."
            )
        if each.key is not None:
            found[each.key] = each.value or ""
    if "BULLION_TOKEN" in found:
        # The token identifies a person, so it must not be in a file that everybody shares.
        raise WrongSetting(f"BULLION_TOKEN is read from the environment only: remove it from {env_file}.")
    return found


def _read_secret_files(given: dict[str, str]) -> None:
    """Replace each `<setting>_FILE` by the setting itself. An empty one counts as left out."""
    for name, setting in SECRET_FILES.items():
        place = given.pop(name, "").strip()
        if place:
            if given.get(setting, "").strip():
                raise WrongSetting(f"{setting} and {name} are both set: remove one of them.")
            given[setting] = _read_secret_file(name, Path(place))


def _read_secret_file(name: str, file: Path) -> str:
    # The message names the file, and nothing of what is in it.
    try:
        value = file.read_text("utf-8").removesuffix("\n").removesuffix("\r")
    except OSError as error:
        raise WrongSetting(f"{name}: {file} cannot be read ({error.strerror}).") from error
    except UnicodeError:
        raise WrongSetting(f"{name}: {file} is not a text file in UTF-8.") from None
    if not value.strip():
        raise WrongSetting(f"{name}: {file} is empty.")
    return value


def _unknown(name: str) -> str:
    known = sorted([*_READERS, *SECRET_FILES])
    near = difflib.get_close_matches(name, known, n=1)
    meant = f" Did you mean {near[0]}?" if near else f" The settings are: {', '.join(known)}."
    return f"{name} is not a setting of Bullion.{meant}"


def _check_combinations(settings: Settings) -> None:
    if settings.workers > 1 and settings.sqlite:
        raise WrongSetting(
            f"BULLION_WORKERS is {settings.workers}, but SQLite allows only one: set it to 1, or set "
            "BULLION_DATABASE_URL to a PostgreSQL server."
        )
    if settings.workers > 1 and settings.redis_url is None:
        raise WrongSetting(
            f"BULLION_WORKERS is {settings.workers}, but rate limits in memory work for one only: "
            "set it to 1, or set BULLION_REDIS_URL so that the workers share them."
        )
    if settings.reports_url is not None and settings.sqlite:
        raise WrongSetting(
            "BULLION_REPORTS_URL names a standby of PostgreSQL, so BULLION_DATABASE_URL must be its primary."
        )
    if settings.secret_old is not None and settings.secret is None:
        raise WrongSetting("BULLION_SECRET_OLD is set, so BULLION_SECRET must be set to the new secret.")
    for name, value, wanted in (
        ("BULLION_HEDGE", settings.hedge, "fix"),
        ("BULLION_FEED", settings.feed, "live"),
    ):
        if value == wanted and settings.market is None:
            raise WrongSetting(f"{name} is {wanted!r}, so BULLION_MARKET must name the market file.")
    if settings.port == settings.desk_port != 0 and settings.desk_host in (None, settings.host):
        raise WrongSetting("BULLION_PORT and BULLION_DESK_PORT must be two different ports.")


def _text(_name: str, value: str) -> str:
    return value


def _one_of(*allowed: str) -> Callable[[str, str], str]:
    def read(name: str, value: str) -> str:
        if value not in allowed:
            raise WrongSetting(f"{name} is {value!r}, but must be one of: {', '.join(allowed)}.")
        return value

    return read


def _on_off(name: str, value: str) -> bool:
    return _one_of("on", "off")(name, value) == "on"


def _whole_number(least: int, most: int) -> Callable[[str, str], int]:
    def read(name: str, value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", value) or not least <= int(value) <= most:
            raise WrongSetting(f"{name} is {value!r}, but must be a whole number from {least} to {most}.")
        return int(value)

    return read


# URLs may contain a password, so messages never repeat them.


def _database_url(name: str, value: str) -> str:
    is_sqlite = value.startswith("sqlite:///") and value.removeprefix("sqlite:///") not in ("", ":memory:")
    if not is_sqlite and not value.startswith(("postgresql://", "postgres://")):
        raise WrongSetting(
            f"{name} must be sqlite:///<path>, for example sqlite:///var/bullion.db, or "
            "postgresql://<user>:<password>@<host>/<database>."
        )
    return value


def _reports_url(name: str, value: str) -> str:
    if not value.startswith(("postgresql://", "postgres://")):
        raise WrongSetting(f"{name} must be postgresql://<user>:<password>@<host>/<database>.")
    return value


def _redis_url(name: str, value: str) -> str:
    try:
        read_address(value)
    except ValueError as error:
        raise WrongSetting(f"{name} {error}") from None
    return value


def _http_url(name: str, value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise WrongSetting(f"{name} must be the address of the trading API, such as http://127.0.0.1:8000.")
    return value.rstrip("/")


def _broker(name: str, value: str) -> str:
    if not re.fullmatch(BROKER_TAG, value):
        raise WrongSetting(
            f"{name} is {value!r}, but must be up to 32 of a-z, 0-9 and -, beginning with a letter or digit."
        )
    return value


def _secret_of(length_min: int) -> Callable[[str, str], str]:
    def read(name: str, value: str) -> str:
        if len(value) < length_min or not value.isascii() or not value.isprintable():
            raise WrongSetting(
                f"{name} must be at least {length_min} printable ASCII characters. "
                "Make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"
            )
        return value

    return read


def _networks(name: str, value: str) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(part.strip()) for part in value.split(","))
    except ValueError as error:
        raise WrongSetting(
            f"{name} must be addresses or CIDR blocks with commas between (10.0.0.5,10.1.0.0/16): {error}."
        ) from None


_READERS: dict[str, Callable[[str, str], object]] = {
    "BULLION_DATABASE_URL": _database_url,
    "BULLION_REDIS_URL": _redis_url,
    "BULLION_REPORTS_URL": _reports_url,
    "BULLION_HOST": _text,
    "BULLION_PORT": _whole_number(0, 65535),
    "BULLION_DESK_HOST": _text,
    "BULLION_DESK_PORT": _whole_number(0, 65535),
    "BULLION_CONSOLE_PORT": _whole_number(0, 65535),
    "BULLION_CONSOLE_API_URL": _http_url,
    "BULLION_CONSOLE_LATE_S": _whole_number(1, 86_400),
    "BULLION_CONSOLE_SESSION_S": _whole_number(1, 2_592_000),
    "BULLION_CONSOLE_IDLE_S": _whole_number(1, 2_592_000),
    "BULLION_WORKERS": _whole_number(1, 256),
    "BULLION_DRAIN_S": _whole_number(0, 300),
    "BULLION_BROKER": _broker,
    "BULLION_PRODUCTION": _on_off,
    "BULLION_HEDGE": _one_of(*VENUES),
    "BULLION_MARKET": _text,
    "BULLION_LINE_HOST": _text,
    "BULLION_FEED": _one_of("simulated", "desk", "live"),
    "BULLION_FEED_SEED": _whole_number(0, 999_999_999),
    "BULLION_MINUTE_RATES_DAYS": _whole_number(1, 3660),
    "BULLION_HOUR_RATES_DAYS": _whole_number(1, 3660),
    "BULLION_DAY_RATES_DAYS": _whole_number(1, 36_600),
    "BULLION_EVENT_DAYS": _whole_number(1, 3660),
    "BULLION_WEBHOOK_ALLOW_PRIVATE": _on_off,
    "BULLION_DESK_TOKEN": _secret_of(_DESK_TOKEN_LENGTH_MIN),
    "BULLION_SECRET": _secret_of(_SECRET_LENGTH_MIN),
    "BULLION_SECRET_OLD": _secret_of(_SECRET_LENGTH_MIN),
    "BULLION_TRUSTED_PROXIES": _networks,
    "BULLION_CONNECTIONS_PER_ADDRESS": _whole_number(1, 65_536),
    "BULLION_STREAMS_PER_KEY": _whole_number(1, 10_000),
    "BULLION_LOG_CALLS": _one_of("refused", "all"),
    "BULLION_LOG_LEVEL": _one_of("debug", "info", "warning", "error"),
    "BULLION_OTEL": _on_off,
}
