"""The OpenAPI 3.1 description of the clients' interface, made from the refusal catalogue and our schemas.

To add an endpoint: name its schemas in `schemas/`, write a function in `endpoints/` that gives its summary
and its successful answers, and list it there with the refusals it can meet. Paths, security, refused answers
and their examples follow from that, in both environments. What one of them has alone, the function says.
"""

from .document import openapi
from .refused import RETRY_ADVICE

__all__ = ["RETRY_ADVICE", "openapi"]
