"""The named queries: one `.sql` file each, read once.

A file `name.sqlite.sql` or `name.postgres.sql` stands in for `name.sql` where an engine has its own words.
In a query, `@name` stands for the query of that name.
"""

import re
from functools import cache
from importlib.resources import files

_INNER = re.compile(r"@([a-z_]+)")


@cache
def load(engine: str) -> dict[str, str]:
    """All queries by name, as the engine is to run them."""
    shared: dict[str, str] = {}
    own: dict[str, str] = {}
    for file in files("bullion.store").joinpath("queries").iterdir():
        name, *middle, ending = file.name.split(".")
        if ending != "sql":
            continue
        if not middle:
            shared[name] = file.read_text("utf-8")
        elif middle == [engine]:
            own[name] = file.read_text("utf-8")
    found = shared | own
    return {name: _INNER.sub(lambda inner: found[inner[1]], query) for name, query in found.items()}
