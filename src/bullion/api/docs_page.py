"""The pages at `/docs` and `/docs/guide`, for people. `make generate` writes them.

They have no script and load nothing: their Content-Security-Policy allows their own style sheet alone.
"""

from base64 import b64encode
from hashlib import sha256
from importlib import resources

from bullion.web.response import Response

DOCS, GUIDE = "/docs", "/docs/guide"


def docs_page() -> Response:
    return _page("docs.html")


def guide_page() -> Response:
    return _page("guide.html")


def _page(name: str) -> Response:
    page = resources.files(__package__).joinpath(name).read_bytes()
    style = page.partition(b"<style>")[2].partition(b"</style>")[0]
    digest = b64encode(sha256(style).digest()).decode("ascii")
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    html = (b"content-type", b"text/html; charset=utf-8")
    return Response(200, page, (html, (b"content-security-policy", policy.encode("ascii"))))
