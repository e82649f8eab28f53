"""What a call that is not carried out is answered with."""

from bullion.api.openapi.pieces import Json, object_of, schema_ref
from bullion.refusals.catalogue import INVALID_REQUEST

_CODE: Json = {"type": "string", "description": "Stable, for programs. Branch on this."}
_MESSAGE: Json = {"type": "string", "description": "For people. It may change."}

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
    "InvalidRequest": object_of(
        {
            "detail": object_of(
                {
                    "code": _CODE | {"enum": [INVALID_REQUEST.code]},
                    "message": _MESSAGE,
                    "errors": {
                        "type": "array",
                        "minItems": 1,
                        "items": schema_ref("Problem"),
                        "description": "Every problem that was found.",
                    },
                },
                description="Why the call was refused.",
            )
        },
        description=f"The refusal `{INVALID_REQUEST.code}`, which also lists what is wrong and where.",
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
    "UnknownPath": object_of(
        {"detail": {"type": "string", "description": "A plain text: there is no code."}},
        description="The body of a 404 that is no refusal: the address or the path is wrong.",
    ),
}
