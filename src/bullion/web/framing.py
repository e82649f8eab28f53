"""What a request says of its path and of the length of its body, where there is only one reading."""

from urllib.parse import unquote

import httptools


def path_and_query(url: bytes) -> tuple[str, bytes]:
    if not url.startswith(b"/") or b"#" in url:
        parsed = httptools.parse_url(url)  # As proxies are sent it, with a scheme and a host.
        raw_path, query = parsed.path or b"", parsed.query or b""
    else:
        raw_path, _, query = url.partition(b"?")
    path = raw_path.decode("ascii")
    return unquote(path) if "%" in path else path, query


def read_framing(name: bytes, value: bytes, version: str) -> int | None:
    """The length of the body; None: it comes in chunks."""
    if name == b"content-length" and value.isdigit():
        return int(value)
    if name == b"transfer-encoding" and value.lower() == b"chunked" and version == "1.1":
        return None
    raise httptools.HttpParserError("unreadable framing")
