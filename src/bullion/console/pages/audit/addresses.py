"""Where entries of the trail are found."""

from collections.abc import Mapping
from urllib.parse import urlencode

PAGE_NAME = "audit"


def trail_path(chosen: Mapping[str, str], **more: str) -> str:
    query = urlencode({name: value for name, value in {**chosen, **more}.items() if value})
    return f"/{PAGE_NAME}?{query}" if query else f"/{PAGE_NAME}"


def entry_path(ordinal: int) -> str:
    """The trail from this entry down."""
    return trail_path({}, below=str(ordinal + 1))
