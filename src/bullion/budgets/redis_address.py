"""Reads the address of Redis: one server, a socket of this machine, or sentinels that know the master."""

from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

Host = tuple[str, int]

_PORT = 6379
_SENTINEL_PORT = 26379
_SENTINEL_OPTIONS = frozenset({"sentinel_user", "sentinel_password"})


class Login(NamedTuple):
    user: str = ""
    password: str = ""
    """Empty: no log-in is needed."""


class RedisAddress(NamedTuple):
    hosts: tuple[Host, ...]
    """The server; with a `service`, the sentinels; empty for a socket."""
    path: str
    """Of a socket on this machine, or empty."""
    tls: bool
    login: Login
    database: str
    service: str = ""
    """The name that the sentinels know the master by; empty without sentinels."""
    sentinel_login: Login = Login()


def read_address(url: str) -> RedisAddress:
    """Raises ValueError, with a message that does not repeat the address: it may contain a password."""
    scheme, _, _ = url.partition("://")
    if scheme in ("redis+sentinel", "rediss+sentinel"):
        return _read_sentinel_address(url, tls=scheme == "rediss+sentinel")
    if scheme not in ("redis", "rediss", "unix"):
        raise ValueError(
            "must be redis://<host>:<port>/<number>, rediss://… for TLS, unix://<path>, or "
            "redis+sentinel://<host>:<port>,<host>:<port>/<service>."
        )
    parts = _split(url)
    login = Login(unquote(parts.username or ""), unquote(parts.password or ""))
    if scheme == "unix":
        return RedisAddress((), parts.path, tls=False, login=login, database="")
    host = parts.hostname or "127.0.0.1", parts.port or _PORT
    return RedisAddress((host,), "", scheme == "rediss", login, parts.path.strip("/"))


def _read_sentinel_address(url: str, *, tls: bool) -> RedisAddress:
    # Not by `urlsplit`, which knows no list of hosts.
    before, _, query = url.partition("://")[2].partition("?")
    credentials, _, place = before.rpartition("@")
    hosts, _, path = place.partition("/")
    user, _, password = credentials.partition(":")
    service, _, database = path.strip("/").partition("/")
    options = dict(parse_qsl(query))
    if not service:
        raise ValueError(
            "must name the service that the sentinels watch: redis+sentinel://<host>:<port>/<service>."
        )
    if not options.keys() <= _SENTINEL_OPTIONS:
        raise ValueError(f"may have these parameters only: {', '.join(sorted(_SENTINEL_OPTIONS))}.")
    return RedisAddress(
        tuple(_sentinel(each) for each in hosts.split(",")),
        "",
        tls,
        Login(unquote(user), unquote(password)),
        database,
        unquote(service),
        Login(options.get("sentinel_user", ""), options.get("sentinel_password", "")),
    )


def _sentinel(text: str) -> Host:
    parts = _split(f"//{text}")
    if not parts.hostname:
        raise ValueError("must name the host of each sentinel.")
    return parts.hostname, parts.port or _SENTINEL_PORT


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading it is what checks it
    except ValueError:
        raise ValueError(
            "cannot be read: its port must be a whole number from 0 to 65535, and special characters in a "
            "password must be percent-encoded."
        ) from None
    return parts
