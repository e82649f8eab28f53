"""Configurations as the documentation shows them, for tests that run them with other values."""

import re
from pathlib import Path

from tests.docs.markdown import blocks, name_of


def shown(page: Path, begins: str, **exchanges: str) -> str:
    """The page's block that begins so, with the lines of these names given other values."""
    (text,) = [block.text for block in blocks(page) if block.text.startswith(begins)]
    for name, value in exchanges.items():
        pattern = rf"(?m)(?<=^{name.replace('_', '[ _-]')} ).*$"
        text, times = re.subn(pattern, value.replace("\\", r"\\"), text)
        assert times == 1, f"{name_of(page)} does not show {name}"
    return text
