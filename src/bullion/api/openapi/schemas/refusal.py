"""What a call that is not carried out is answered with."""

from bullion.api.openapi.pieces import Json, object_of

REFUSAL: Json = {
    "Refusal": object_of(
        {
            "detail": object_of(
                {
                    "code": {"type": "string", "description": "Stable, for programs. Branch on this."},
                    "message": {"type": "string", "description": "For people. It may change."},
                },
                description="Why the call was refused. Some codes bring further fields.",
            )
        },
        description="The body of every refusal.",
    ),
    "UnknownPath": object_of(
        {"detail": {"type": "string", "description": "A plain text: there is no code."}},
        description="The body of a 404 that is no refusal: the address or the path is wrong.",
    ),
}
