"""Values that many schemas share: decimal texts, times, and the names of things."""

from bullion.api.list_query import STATUSES
from bullion.metals.metal import Metal
from bullion.metals.symbol import Side

from .pieces import Json

_WHOLE = "(0|[1-9][0-9]*)"
_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}\+00:00$"

METAL: Json = {"type": "string", "enum": [metal.value for metal in Metal]}
UNIT: Json = {"type": "string", "enum": [metal.unit for metal in Metal]}
SIDE: Json = {"type": "string", "enum": [side.value for side in Side]}

*PRODUCTION_STATUSES, ALL_STATUSES = STATUSES
"""What the filter of the list takes: the states of a production order, and at last a word for all of them."""

SYMBOL_CODE_LENGTH_MAX = 32
CLIENT_ORDER_ID_LENGTH_MAX = 64


def weight(description: str) -> Json:
    return _decimal(rf"^{_WHOLE}\.[0-9]{{4}}$", description)


def signed_weight(description: str) -> Json:
    """Nothing is written `0.0000`, never with a sign."""
    return _decimal(rf"^(-(?!0\.0000$))?{_WHOLE}\.[0-9]{{4}}$", description)


def rupees(description: str) -> Json:
    return _decimal(rf"^{_WHOLE}\.[0-9]{{2}}$", description)


def signed_rupees(description: str) -> Json:
    """Nothing is written `0.00`, never with a sign."""
    return _decimal(rf"^(-(?!0\.00$))?{_WHOLE}\.[0-9]{{2}}$", description)


def instant(description: str) -> Json:
    return {"type": "string", "format": "date-time", "pattern": _TIME, "description": description}


def or_null(schema: Json) -> Json:
    """A pattern binds texts alone, so the rest of the schema may stay as it is."""
    return {**schema, "type": [schema["type"], "null"]}


def _decimal(pattern: str, description: str) -> Json:
    return {"type": "string", "format": "decimal", "pattern": pattern, "description": description}
