"""The page at `/docs`: the OpenAPI description for people, rendered once, as plain HTML.

It has no script and fetches nothing, so its Content-Security-Policy can forbid all but its own style sheet.
Whatever comes out of the description is escaped, also what only we can have written.
"""

from .page import docs_page, reference_sections, reference_style
from .pieces import Json, prose
from .sections import Section

__all__ = ["Json", "Section", "docs_page", "prose", "reference_sections", "reference_style"]
