"""Reads the path of a request and the length of its body. Ambiguous framing is refused."""

import re
from functools import lru_cache
from urllib.parse import unquote

import httptools

ENCODED_SLASH = "%2F"
"""Stays encoded in a path, since it does not separate segments. None of our names contains a slash."""
_ENCODED_SLASH = re.compile(ENCODED_SLASH, re.IGNORECASE)


_KEPT_BYTES_MAX = 128


def split_target(url: bytes) -> tuple[str, bytes, bytes]:
    """The decoded path, the path as it was sent, and the query as it was sent.

    The results of short ones are kept: most calls have one of a few.
    """
    return _split_kept(url) if len(url) <= _KEPT_BYTES_MAX else _split(url)


def _split(url: bytes) -> tuple[str, bytes, bytes]:
    if not url.startswith(b"/") or b"#" in url:
        parsed = httptools.parse_url(url)  # In the form that proxies get, with a scheme and a host.
        raw_path, query = parsed.path or b"", parsed.query or b""
    else:
        raw_path, _, query = url.partition(b"?")
    path = raw_path.decode("ascii")
    if "%" in path:
        path = ENCODED_SLASH.join(map(unquote, _ENCODED_SLASH.split(path)))
    return path, raw_path, query


_split_kept = lru_cache(maxsize=1024)(_split)


def read_framing(name: bytes, value: bytes, version: str) -> int | None:
    """The length of the body; None: it is chunked."""
    if name == b"content-length" and value.isdigit():
        return int(value)
    if name == b"transfer-encoding" and value.lower() == b"chunked" and version == "1.1":
        return None
    raise httptools.HttpParserError("unreadable framing")
