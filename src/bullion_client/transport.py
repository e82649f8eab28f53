"""Requests to one environment of the service, with its address and API key; and the proxy on the way."""

import re
from dataclasses import dataclass, field
from typing import Self

import httpx

from bullion_client.enums import Environment
from bullion_client.version import __version__

_ENVIRONMENTS = {
    "key_test.": (Environment.TEST, "/api/trading/test/v1"),
    "key_live.": (Environment.PRODUCTION, "/api/trading/v1"),
}
_BASE_PATH = re.compile(r"/api/trading(?:/test)?/v1(?=/|$)")


@dataclass(frozen=True, slots=True)
class Access:
    """The address of an environment and the key for it. Only the requests show the key."""

    environment: Environment
    root: httpx.URL
    api_key: str = field(repr=False)

    @classmethod
    def of(cls, base_url: str, api_key: str) -> Self:
        """Choose the environment by the key's prefix. Raise `ValueError` on an unusable address or key.

        The errors repeat neither argument: if a caller swapped them, both could be the key.
        """
        environment, base_path = _environment(api_key)
        address = _address(base_url)
        # Joined as raw bytes, so that a percent-encoded path prefix stays as it was written.
        root = address.copy_with(raw_path=address.raw_path.rstrip(b"/") + base_path.encode())
        return cls(environment, root, api_key)

    def request(
        self, method: str, path: str, body: bytes | None = None, idempotency_key: str | None = None
    ) -> httpx.Request:
        """Make the request for a path below the environment's base path; `body` is JSON."""
        url = self.root.copy_with(raw_path=self.root.raw_path + path.encode())
        headers = {
            "Accept": "application/json",
            "User-Agent": f"bullion-client/{__version__}",
            "X-API-Key": self.api_key,
        }
        if body is not None:
            headers["Content-Type"] = "application/json"
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        return httpx.Request(method, url, headers=headers, content=body)


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


def check_proxy(proxy: str | httpx.Proxy | None, *, given_transport: bool) -> httpx.Proxy | None:
    """The proxy to use, if any. Raise `ValueError` for an unusable one.

    It is checked before httpx sees it: errors of httpx would show its password.
    """
    if proxy is not None and given_transport:
        raise ValueError("give either a transport or a proxy: a transport reaches the network in its own way")
    try:
        return httpx.Proxy(proxy) if isinstance(proxy, str) else proxy
    except (ValueError, httpx.InvalidURL):
        raise ValueError("proxy must be an address such as 'http://proxy.example:3128'") from None
