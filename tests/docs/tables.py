"""The tables of a store, as the steps of its schema make them."""

import re

from bullion.store import schema


def tables_of(engine: str) -> set[str]:
    made = (re.findall(r"CREATE TABLE (\w+)", step.sql) for step in schema.steps(engine))
    return {"migrations"}.union(*made)
