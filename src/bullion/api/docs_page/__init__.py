"""The page at `/docs`: the OpenAPI description for people, rendered once, as plain HTML.

It has no script and fetches nothing, so its Content-Security-Policy can forbid all but its own style sheet.
Whatever comes out of the description is escaped, also what only we can have written.
"""

from .page import docs_page

__all__ = ["docs_page"]
