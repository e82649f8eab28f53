"""Where webhooks may lead: to public addresses, over TLS, unless the deployment allows private ones."""

import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

import msgspec

URL_LENGTH_MAX = 1024
_HTTPS_PORT, _HTTP_PORT = 443, 80
_PORT_MIN = 1024
"""Lower ports belong to other protocols, except for that of HTTPS."""
_PORT_MAX = 65_535
_VISIBLE = re.compile(r"[!-~]+")
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")
_NAME_LENGTH_MAX = 253

# Blocks of IPv6 that hold an address of IPv4, with the position of its last bit from the right. A packet to
# such an address may be sent on to the one inside.
_HOLDING_IPV4 = (
    (ip_network("::ffff:0:0/96"), 0),
    (ip_network("::/96"), 0),
    (ip_network("64:ff9b::/96"), 0),
    (ip_network("2002::/16"), 80),
)
# Blocks that `ipaddress` counts as global in some versions of Python, and that lead inside, or to nobody.
_NEVER = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",
            "100.64.0.0/10",
            "192.0.0.0/24",
            "192.88.99.0/24",
            "198.18.0.0/15",
            "64:ff9b:1::/48",
            "100::/64",
            "2001::/23",
            "2001:db8::/32",
            "3fff::/20",
            "5f00::/16",
            "fc00::/7",
            "fec0::/10",
        ),
    )
)

Address = IPv4Address | IPv6Address


class UrlRefused(ValueError):
    """The URL of a webhook is not allowed. The message says why, for people."""


class Destination(msgspec.Struct, frozen=True):
    """A URL that may be called, in parts."""

    scheme: str
    host: str
    """A name, or an address without brackets."""
    port: int
    target: str
    """Path and query."""

    @property
    def host_header(self) -> str:
        default = _HTTPS_PORT if self.scheme == "https" else _HTTP_PORT
        return self._bracketed(self.host) + ("" if self.port == default else f":{self.port}")

    def url_at(self, address: Address) -> str:
        """The same URL with an address in place of the name."""
        return f"{self.scheme}://{self._bracketed(str(address))}:{self.port}{self.target}"

    @staticmethod
    def _bracketed(host: str) -> str:
        return f"[{host}]" if ":" in host else host


def read_url(url: str, *, allow_private: bool) -> Destination:
    """The URL in parts, or UrlRefused. What its name resolves to is checked when it is called."""
    if len(url) > URL_LENGTH_MAX:
        raise UrlRefused(f"The URL has {len(url)} characters; it may have up to {URL_LENGTH_MAX}.")
    if not _VISIBLE.fullmatch(url):
        raise UrlRefused("The URL may have visible ASCII characters only. Encode all others.")
    try:
        parts = urlsplit(url)
        port = parts.port
        host = (parts.hostname or "").lower().removesuffix(".")
    except ValueError:
        raise UrlRefused("This is not a URL.") from None
    schemes = ("https", "http") if allow_private else ("https",)
    if parts.scheme not in schemes:
        raise UrlRefused("The URL must begin with https://.")
    if "@" in parts.netloc or "\\" in url:
        raise UrlRefused("The URL may have no user name or password, and no backslash.")
    if parts.fragment or url.endswith("#"):
        raise UrlRefused("The URL may have no fragment after a #.")
    if port is None:
        port = _HTTPS_PORT if parts.scheme == "https" else _HTTP_PORT
    allowed = port == _HTTPS_PORT or _PORT_MIN <= port <= _PORT_MAX or (allow_private and port)
    if not allowed:
        raise UrlRefused(f"The port must be {_HTTPS_PORT}, or from {_PORT_MIN} to {_PORT_MAX}.")
    _check_host(host, allow_private=allow_private)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Destination(parts.scheme, host, port, target)


def _check_host(host: str, *, allow_private: bool) -> None:
    try:
        address = ip_address(host)
    except ValueError:
        labels = host.split(".")
        if len(host) > _NAME_LENGTH_MAX or not all(map(_LABEL.fullmatch, labels)):
            raise UrlRefused("The URL needs a host name of letters, digits, dots and dashes.") from None
        if not allow_private and (len(labels) == 1 or labels[-1] == "localhost"):
            raise UrlRefused("The host name must be one of the public internet.") from None
        return
    if not allow_private and not is_public(address):
        raise UrlRefused("The address in the URL is private, local or reserved.")


def is_public(address: Address) -> bool:
    """Whether it is a host of the public internet, also if it is written as another kind of address."""
    return all(map(_is_public_itself, _meanings(address)))


def _meanings(address: Address) -> Iterator[Address]:
    """The address, and that of IPv4 inside it. Only the inner one counts where the outer has no host."""
    if isinstance(address, IPv6Address):
        for block, shift in _HOLDING_IPV4:
            if address in block:
                yield IPv4Address((int(address) >> shift) & 0xFFFFFFFF)
                return
    yield address


def _is_public_itself(address: Address) -> bool:
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return False
    if any(address in block for block in _NEVER if block.version == address.version):
        return False
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_loopback or address.is_link_local
    )
