"""The shapes of bodies, by name."""

from bullion.api.openapi.pieces import Json

from .account import ACCOUNT
from .refusal import REFUSAL
from .service import SERVICE

SCHEMAS: Json = ACCOUNT | REFUSAL | SERVICE
