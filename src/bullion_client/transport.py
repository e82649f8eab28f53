"""Requests to one environment of the service: its address, API key and headers; and the way there."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import httpx

from bullion_client.enums import Environment
from bullion_client.version import __version__

_ENVIRONMENTS = {
    "key_test.": (Environment.TEST, "/api/trading/test/v1"),
    "key_live.": (Environment.PRODUCTION, "/api/trading/v1"),
}
_BASE_PATH = re.compile(r"/api/trading(?:/test)?/v1(?=/|$)|/(?:docs|openapi\.json)/?$")
"""The API's own paths, as people copy them from a guide or a browser."""
_ADDRESS_VARIABLE = "BULLION_BASE_URL"
_KEY_VARIABLE = "BULLION_API_KEY"
_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_APPLICATION = re.compile(rf"{_WORD}(?:/{_WORD})?(?: {_WORD}(?:/{_WORD})?)*")
_APPLICATION_LENGTH_MAX = 100
_HEADER_VALUE = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")
_OWN_HEADERS = {
    "accept": "the client reads JSON only",
    "content-length": "it follows from the body",
    "content-type": "the client sends JSON only",
    "last-event-id": "give after to stream",
    "idempotency-key": "give idempotency_key to place, buy or sell",
    "transfer-encoding": "it follows from the body",
    "user-agent": "give application to the client",
    "x-api-key": "give api_key to the client",
}
"""Headers that a caller cannot set, and what to do instead."""


@dataclass(frozen=True, slots=True)
class Access:
    """The address of an environment and the key for it. Only the requests show the key."""

    environment: Environment
    root: httpx.URL
    api_key: str = field(repr=False)
    agent: str = f"bullion-client/{__version__}"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers that the caller adds, by their names in small letters. They may contain a secret."""

    @classmethod
    def of(cls, base_url: str | None, api_key: str | None, application: str | None = None) -> Self:
        """Choose the environment by the key's prefix. Raise `ValueError` on an unusable argument.

        What is not given comes from the process's environment. The errors repeat no argument: if a caller
        swapped them, each could be the key.
        """
        try:
            environment, base_path = _environment(_given("api_key", api_key, _KEY_VARIABLE))
            address = _address(_given("base_url", base_url, _ADDRESS_VARIABLE))
        except ValueError as error:
            raise ValueError(_with_source(str(error), base_url, api_key)) from None
        # Joined as raw bytes, so that a percent-encoded path prefix stays as it was written.
        root = address.copy_with(raw_path=address.raw_path.rstrip(b"/") + base_path.encode())
        access = cls(environment, root, _given("api_key", api_key, _KEY_VARIABLE))
        return access if application is None else replace(access, agent=_agent(access.agent, application))

    def with_headers(self, headers: Mapping[str, str] | None) -> Self:
        """The same with more headers. Raise `ValueError` for one that cannot be sent, or is the client's."""
        return replace(self, headers={**self.headers, **_checked(headers)}) if headers else self

    def request(
        self, method: str, path: str, body: bytes | None = None, idempotency_key: str | None = None
    ) -> httpx.Request:
        """Make the request for a path below the environment's base path; `body` is JSON."""
        url = self.root.copy_with(raw_path=self.root.raw_path + path.encode())
        headers = {
            **self.headers,
            "Accept": "application/json",
            "User-Agent": self.agent,
            "X-API-Key": self.api_key,
        }
        if body is not None:
            headers["Content-Type"] = "application/json"
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        return httpx.Request(method, url, headers=headers, content=body)


def _given(name: str, value: str | None, variable: str) -> str:
    if value is not None:
        return value
    if not (value := os.environ.get(variable)):
        raise ValueError(f"{name} is missing: give it, or set {variable} in the environment")
    return value


def _with_source(words: str, base_url: str | None, api_key: str | None) -> str:
    """An error about an argument that came from the environment names the variable."""
    for name, given, variable in (
        ("base_url", base_url, _ADDRESS_VARIABLE),
        ("api_key", api_key, _KEY_VARIABLE),
    ):
        if given is None and words.startswith((f"{name} must", f"{name} has")):
            return words.replace(name, variable, 1)
    return words


def _agent(own: str, application: str) -> str:
    if not _APPLICATION.fullmatch(application) or len(application) > _APPLICATION_LENGTH_MAX:
        raise ValueError(
            "application must be a name such as 'till' or 'till/2.1': "
            f"up to {_APPLICATION_LENGTH_MAX} letters, digits and signs, without brackets"
        )
    return f"{own} {application}"


def _checked(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not re.fullmatch(_WORD, name):
            raise ValueError(f"headers has a name that no header can have: {name!r}")
        if own := _OWN_HEADERS.get(name.lower()):
            raise ValueError(f"headers cannot set {name}: {own}")
        # The value is not repeated: it may be a secret.
        if not _HEADER_VALUE.fullmatch(value):
            raise ValueError(
                f"headers has a value for {name} that is not printable ASCII, or has blanks around"
            )
    return {name.lower(): value for name, value in headers.items()}


def _environment(api_key: str) -> tuple[Environment, str]:
    place = next((place for prefix, place in _ENVIRONMENTS.items() if api_key.startswith(prefix)), None)
    if place is None:
        raise ValueError(
            "api_key must start with 'key_test.' (test environment) or 'key_live.' (production): "
            "give the whole key, as the operator issued it"
        )
    # httpx would fail with an error that shows the key.
    if not re.fullmatch(r"[!-~]+", api_key):
        raise ValueError(
            "api_key has white space, a line break or another character that no key has: "
            "was it read from a file without removing the line break?"
        )
    return place


def _address(base_url: str) -> httpx.URL:
    if base_url != base_url.strip():
        raise ValueError("base_url has a blank or a line break around it: remove that")
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in {"http", "https"} or not url.host:
        # The scheme is not guessed: http would send the key in plain text.
        raise ValueError("base_url must begin with http:// or https://, such as 'https://trading.example'")
    # The address is shown in errors and in repr, so it must not contain a secret.
    if url.userinfo or "?" in base_url or "#" in base_url:
        raise ValueError("base_url must be a plain address: without user, password, '?' and '#'")
    # It is not removed here: the command line finds a journal by the address, so it needs one spelling.
    if found := _BASE_PATH.search(url.path):
        raise ValueError(
            f"base_url must end before the API's own path: leave out '{found[0]}' and what follows it"
        )
    return url


def check_proxy(
    proxy: str | httpx.Proxy | None, transport: object, http_client: object, kind: type[object]
) -> httpx.Proxy | None:
    """The proxy to use, if any. Raise `ValueError` for an unusable one, or for two ways to the network.

    It is checked before httpx sees it: errors of httpx would show its password.
    """
    if http_client is not None and not isinstance(http_client, kind):
        raise TypeError(f"http_client must be a {kind.__module__}.{kind.__name__}")
    if http_client is not None and (proxy is not None or transport is not None):
        raise ValueError("give either an http_client or a transport or a proxy: it has its own way")
    if proxy is not None and transport is not None:
        raise ValueError("give either a transport or a proxy: a transport reaches the network in its own way")
    try:
        return httpx.Proxy(proxy) if isinstance(proxy, str) else proxy
    except (ValueError, httpx.InvalidURL):
        raise ValueError("proxy must be an address such as 'http://proxy.example:3128'") from None
