"""Shortcuts in httpx, with which a call takes the tests' own process two thirds of the time.

They change nothing that is sent or read. The processes of the service do not have them.
"""

from functools import lru_cache

import httpx
from httpx import _urlparse, _urls

_extract_cookies = httpx.Cookies.extract_cookies


def take() -> None:
    """For the rest of this process."""
    # The result cannot be changed, and the tests call a few paths again and again.
    parse = lru_cache(maxsize=4096)(_urlparse.urlparse)
    vars(_urlparse)["urlparse"] = vars(_urls)["urlparse"] = parse
    httpx.Cookies.extract_cookies = _extract_cookies_if_any  # type: ignore[method-assign]


def _extract_cookies_if_any(self: httpx.Cookies, response: httpx.Response) -> None:
    """Without this, request and response are copied for `http.cookiejar` before it looks for a cookie."""
    if "set-cookie" in response.headers:
        _extract_cookies(self, response)
