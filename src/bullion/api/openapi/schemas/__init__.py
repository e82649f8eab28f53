"""The shapes of bodies, by name."""

from bullion.api.openapi.pieces import Json

from .account import ACCOUNT
from .market import MARKET
from .order import ORDER
from .place_order import PLACE_ORDER
from .position import POSITION
from .refusal import REFUSAL
from .service import SERVICE

SCHEMAS: Json = ACCOUNT | {"PlaceOrder": PLACE_ORDER} | ORDER | POSITION | MARKET | REFUSAL | SERVICE
