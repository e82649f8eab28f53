"""What the service tells about itself."""

from bullion.api.openapi.pieces import Json, object_of

SERVICE: Json = {
    "Liveness": object_of(
        {"live": {"type": "boolean", "description": "Always true: a node that is not live does not answer."}},
        description="Whether the node is running.",
    ),
    "Readiness": object_of(
        {"ready": {"type": "boolean", "description": "Whether every part is in order."}},
        additionalProperties={"type": "boolean", "description": "A part, and whether it is in order."},
        description="Whether the node may be sent calls, and what that is made of.",
    ),
    "Description": {"type": "object", "description": "An OpenAPI document."},
}
