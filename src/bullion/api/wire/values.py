"""Values that many bodies share, and ways to describe a field."""

from functools import lru_cache
from typing import Annotated, Any

from msgspec import UNSET, Meta

from bullion.metals.metal import Metal
from bullion.metals.symbol import Side
from bullion.orders.bounds import CLIENT_ORDER_ID_LENGTH_MAX, SYMBOL_CODE_LENGTH_MAX
from bullion.orders.instant import instant_text

time_text = lru_cache(maxsize=4096)(instant_text)
"""Orders of one batch share their time, an event has that of its order, and pages are read again."""


def about(description: str, example: Any = UNSET, **schema: Any) -> Meta:
    examples = None if example is UNSET else [example]
    return Meta(description=description, examples=examples, extra_json_schema=schema or None)


def schema(**keywords: Any) -> Meta:
    """For the schema only: msgspec does not check it."""
    return Meta(extra_json_schema=keywords)


_WHOLE = "(0|[1-9][0-9]*)"
_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}\+00:00$"
_DAY_OF_YEAR = (
    "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
)
TIME_WITHOUT_ZONE = (
    rf"^[1-9][0-9]{{3}}-{_DAY_OF_YEAR}T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{{1,6}})?)?$"
)
Weight = Annotated[str, schema(format="decimal", pattern=rf"^{_WHOLE}\.[0-9]{{4}}$")]
Rupees = Annotated[str, schema(format="decimal", pattern=rf"^{_WHOLE}\.[0-9]{{2}}$")]
# Zero has no sign.
SignedWeight = Annotated[str, schema(format="decimal", pattern=rf"^(-(?!0\.0000$))?{_WHOLE}\.[0-9]{{4}}$")]
SignedRupees = Annotated[str, schema(format="decimal", pattern=rf"^(-(?!0\.00$))?{_WHOLE}\.[0-9]{{2}}$")]
Instant = Annotated[str, schema(format="date-time", pattern=_TIME)]
Uuid = Annotated[str, schema(format="uuid")]
SideText = Annotated[str, schema(enum=[side.value for side in Side])]
MetalText = Annotated[str, schema(enum=[metal.value for metal in Metal])]
Unit = Annotated[str, schema(enum=[metal.unit for metal in Metal])]
NO_NUL = schema(pattern=r"^[^\u0000]*$")
SymbolCode = Annotated[str, Meta(max_length=SYMBOL_CODE_LENGTH_MAX), NO_NUL]
ClientOrderId = Annotated[str, Meta(max_length=CLIENT_ORDER_ID_LENGTH_MAX), NO_NUL]
