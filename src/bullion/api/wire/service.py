"""What the service says about itself."""

from typing import Annotated

from msgspec import Struct

from .values import about


class UnknownPath(Struct):
    """The body of a 404 that is no refusal: the address or the path is wrong."""

    detail: Annotated[str, about("A plain text: there is no code.")]


class Liveness(Struct):
    """Whether the node is running."""

    live: Annotated[bool, about("Always true: a node that is not live does not answer.")]


class Readiness(Struct):
    """Whether the node may be sent calls, and what that is made of."""

    ready: Annotated[bool, about("Whether every part is in order.")]
