"""Answers of the console: pages, redirects, and JSON for its own script."""

from http import HTTPStatus
from typing import Any

import msgspec

from bullion.refusals.refusal import RefusalError
from bullion.web.response import JSON, Headers, Response, refusal_headers

_encode = msgspec.json.Encoder(enc_hook=str).encode  # Html is a str.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_PAGE: Headers = (
    (b"content-type", b"text/html; charset=utf-8"),
    (b"content-security-policy", _POLICY.encode("ascii")),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)


def page(html: bytes, status: int = HTTPStatus.OK, more: Headers = ()) -> Response:
    return Response(status, html, (*_PAGE, *more))


def json_answer(value: Any, status: int = HTTPStatus.OK, more: Headers = ()) -> Response:
    """For the console's script."""
    return Response(status, _encode(value), (JSON, (b"cross-origin-resource-policy", b"same-origin"), *more))


def refusal_answer(refused: RefusalError) -> Response:
    return json_answer({"refused": refused.message}, refused.refusal.status, refusal_headers(refused))


def redirect(path: str, more: Headers = ()) -> Response:
    return Response(HTTPStatus.SEE_OTHER, b"", ((b"location", path.encode("ascii")), *more))
