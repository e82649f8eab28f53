"""What a call that is not carried out is answered with."""

from bullion.api.openapi.pieces import Json, object_of, schema_ref
from bullion.api.problems import LISTED_MAX
from bullion.refusals.catalogue import INVALID_REQUEST, ORDER_REJECTED, PRODUCTION_TRADING_DISABLED
from bullion.refusals.refusal import RefusalCode

_CODE: Json = {"type": "string", "description": "Stable, for programs. Branch on this."}
_MESSAGE: Json = {"type": "string", "description": "For people. It may change."}


def _with(row: RefusalCode, further: Json, words: str) -> Json:
    """The body of the one refusal that has these further fields."""
    detail = {"code": _CODE | {"enum": [row.code]}, "message": _MESSAGE} | further
    return object_of(
        {"detail": object_of(detail, description="Why the call was refused.")},
        description=f"The refusal `{row.code}`, which also {words}.",
    )


REFUSAL: Json = {
    "Refusal": object_of(
        {
            "detail": object_of(
                {"code": _CODE, "message": _MESSAGE},
                description="Why the call was refused. Some codes bring further fields.",
            )
        },
        description="The body of every refusal.",
    ),
    "InvalidRequest": _with(
        INVALID_REQUEST,
        {
            "errors": {
                "type": "array",
                "minItems": 1,
                "maxItems": LISTED_MAX + 1,
                "items": schema_ref("Problem"),
                "description": (
                    f"Every problem that was found, up to {LISTED_MAX}. Where there are more, a last one of "
                    "the type `more_problems` says how many."
                ),
            }
        },
        "lists what is wrong and where",
    ),
    "Problem": object_of(
        {
            "loc": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "string"},
                "description": "Where it is: `header`, `query` or `body`, then the name of what is there.",
            },
            "msg": {"type": "string", "description": "What is wrong, for people. It may change."},
            "type": {"type": "string", "description": "What kind of problem it is, for programs."},
        },
        description="One thing that is wrong with a request.",
        examples=[{"loc": ["body", "symbol_code"], "msg": "symbol_code is required.", "type": "missing"}],
    ),
    "ProductionTradingDisabled": _with(
        PRODUCTION_TRADING_DISABLED,
        {
            "reason": {
                "type": "string",
                "enum": ["deploy", "global", "account"],
                "description": (
                    "Which switch is off, the widest first: `deploy`, that of the installation; `global`, "
                    "that of the broker; `account`, that of the account."
                ),
            }
        },
        "tells which switch is off",
    ),
    "OrderRejected": _with(
        ORDER_REJECTED,
        {
            "order_id": {"type": "string", "format": "uuid", "description": "The `id` of the order."},
            "order": {
                **schema_ref("ProductionOrder"),
                "description": "The order as it was left.",
                "required": ["status"],
                "properties": {
                    "status": {"enum": ["rejected"], "description": "Nothing was booked, so it has no price."}
                },
            },
        },
        "shows the order that the hedge refused",
    ),
    "UnknownPath": object_of(
        {"detail": {"type": "string", "description": "A plain text: there is no code."}},
        description="The body of a 404 that is no refusal: the address or the path is wrong.",
    ),
}
