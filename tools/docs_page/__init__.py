"""The service's page at `/docs`, written from the OpenAPI description as plain HTML.

It has no script and loads nothing. Every text of the description is escaped.
"""

from .page import docs_page, reference_sections, reference_style
from .pieces import Json, prose
from .sections import Section

__all__ = ["Json", "Section", "docs_page", "prose", "reference_sections", "reference_style"]
