"""The page at `/docs`: the OpenAPI description for people. `make generate` writes it with `tools/docs_page`.

It has no script and loads nothing, so its Content-Security-Policy forbids everything but its own style sheet.
"""

from base64 import b64encode
from hashlib import sha256
from importlib import resources

from bullion.web.response import Response

DOCS = "/docs"


def docs_page() -> Response:
    page = resources.files(__package__).joinpath("docs.html").read_bytes()
    style = page.partition(b"<style>")[2].partition(b"</style>")[0]
    digest = b64encode(sha256(style).digest()).decode("ascii")
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    html = (b"content-type", b"text/html; charset=utf-8")
    return Response(200, page, (html, (b"content-security-policy", policy.encode("ascii"))))
