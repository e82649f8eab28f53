"""Parameters of a query."""

from typing import Any

from bullion.api.openapi.pieces import Json

BEYOND = "An extension: the API's specification does not have it."


def in_query(
    name: str, schema: Json, description: str, *, example: Any = None, extension: bool = False
) -> Json:
    """One that may be left out. With an example it is also shown in the example call."""
    parameter: Json = {"name": name, "in": "query", "schema": schema, "description": description}
    if example is not None:
        parameter["example"] = example
    if extension:
        parameter |= {"description": f"{description} {BEYOND}", "x-extension": True}
    return parameter
