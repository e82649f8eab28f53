"""What a browser sends to the console: path, query, cookies and form, and from which site."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from bullion.refusals.desk import INVALID_BODY
from bullion.refusals.refusal import RefusalError
from bullion.web.body import read_body
from bullion.web.response import Receive, Scope

FORM_BYTES_MAX = 64 * 1024
_FIELDS_MAX = 200
_FOR_SCRIPT = ("live", "dialogs", "actions", "previews")
"""The first parts of paths that only the console's own script requests."""
_HOST_PREFIX = "__Host-"
"""Browsers accept a cookie of such a name only over TLS, and only for this host."""


@dataclass(frozen=True, slots=True)
class BrowserRequest:
    method: str
    path: str
    """Decoded, without a slash at its end and without empty parts."""
    address: str
    """The path and the query as they were sent."""
    query: Mapping[str, str]
    readable: bool
    """Whether the query is text: its percent-encoded bytes may not be UTF-8."""
    headers: Mapping[str, str]
    cookies: Mapping[str, str]

    @classmethod
    def of(cls, scope: Scope) -> "BrowserRequest":
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1"), value.decode("latin-1"))
        raw = scope.get("raw_path") or scope["path"].encode("utf-8")
        query = scope["query_string"].decode("latin-1")
        try:
            pairs, readable = _pairs(query), True
        except RefusalError:
            pairs, readable = [], False
        return cls(
            method=scope["method"],
            path="/" + "/".join(part for part in scope["path"].split("/") if part),
            address=raw.decode("latin-1") + (f"?{query}" if query else ""),
            query=dict(pairs),
            readable=readable,
            headers=headers,
            cookies=_cookies(headers.get("cookie", "")),
        )

    @property
    def tls(self) -> bool:
        """As the proxy in front says. A caller who forges it harms only themselves."""
        return self.headers.get("x-forwarded-proto", "").lower() == "https"

    def session_cookie(self, name: str) -> str | None:
        return self.cookies.get(self._full_name(name))

    def _full_name(self, name: str) -> str:
        return f"{_HOST_PREFIX}{name}" if self.tls else name

    @property
    def theme(self) -> str:
        return self.cookies.get("bullion_theme", "auto")

    @property
    def first_part(self) -> str:
        return self.path.split("/")[1]

    @property
    def sent_by_script(self) -> bool:
        """Whether the console's own script sent it, rather than a browser that opens the address."""
        return self.first_part in _FOR_SCRIPT and self.headers.get("sec-fetch-mode") != "navigate"

    @property
    def sent_by_console(self) -> bool:
        """Whether a page of this console sent it, by the headers of the browser.

        Browsers send the origin with everything except plain reads.
        """
        site = self.headers.get("sec-fetch-site")
        if site not in (None, "same-origin", "none"):
            return False
        origin = self.headers.get("origin")
        if origin is None:
            return self.method in ("GET", "HEAD")
        try:
            return urlsplit(origin).netloc == self.headers.get("host")
        except ValueError:  # Such as `http://[`, which is not an origin.
            return False

    def set_session(self, name: str, value: str, lasts_s: int) -> tuple[bytes, bytes]:
        secure = "; Secure" if self.tls else ""
        attributes = f"Path=/; Max-Age={lasts_s}; HttpOnly; SameSite=Strict{secure}"
        text = f"{self._full_name(name)}={value}; {attributes}"
        return b"set-cookie", text.encode("ascii")

    async def form(self, scope: Scope, receive: Receive, bytes_max: int = FORM_BYTES_MAX) -> dict[str, str]:
        body = await read_body(scope["headers"], receive, bytes_max)
        return dict(_pairs(body.decode("latin-1")))


def _pairs(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_FIELDS_MAX)
    except ValueError:
        raise RefusalError(INVALID_BODY, "What was sent cannot be read as a form.") from None


def _cookies(text: str) -> dict[str, str]:
    """Not with `http.cookies`, whose time grows with the square of the backslashes in a quoted value.

    Our own cookies have no quotes. Cookies of other applications on this host are not unquoted.
    """
    pairs = (pair.partition("=") for pair in text.split(";"))
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}
