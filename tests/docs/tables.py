"""The tables that a store has in the end, read off the steps of its schema."""

import re

from bullion.store import schema


def tables_of(engine: str) -> set[str]:
    found = {"migrations"}
    for step in schema.steps(engine):
        for made, dropped, renamed, name in re.findall(
            r"CREATE TABLE (\w+)|DROP TABLE (\w+)|ALTER TABLE (\w+) RENAME TO (\w+)", step.sql
        ):
            found = (found | {made, name}) - {"", dropped, renamed}
    return found
