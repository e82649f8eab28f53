"""The OpenAPI 3.1 description of the trading API, made from the wire structs and the refusal catalogue.

To add a call: write its bodies in `bullion.api.wire`, and list it in `endpoints` with its summary, its
successful responses and the refusals it can get. Paths, schemas, security, error responses and their examples
follow from that, in both environments.
"""

from .document import openapi
from .postman import postman_collection
from .refusals import RETRY_ADVICE

__all__ = ["RETRY_ADVICE", "openapi", "postman_collection"]
