"""The test book of one account as the specification and the rulings have it, in decimals.

Written from the documents alone: nothing of the service is imported here.
"""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_FLOOR, Decimal, localcontext
from typing import Any

UNITS = {"gold": "g", "silver": "kg"}


@dataclass(frozen=True)
class Symbol:
    """What is offered to the model's one group, with the group's own terms."""

    code: str
    metal: str
    quoted_weight: Decimal
    minimum: Decimal
    maximum: Decimal
    step: Decimal
    buy: Decimal
    sell: Decimal
    buy_premium: Decimal = Decimal(0)
    sell_premium: Decimal = Decimal(0)
    sides: tuple[str, ...] = ("buy", "sell")
    trading: bool = True
    group_minimum: Decimal | None = None
    group_maximum: Decimal | None = None
    group_step: Decimal | None = None

    def price(self, side: str) -> Decimal:
        return self.buy + self.buy_premium if side == "buy" else self.sell + self.sell_premium


@dataclass(frozen=True)
class Body:
    """What is asked for, by value; the numbers as the text that is sent."""

    symbol_code: str
    trade_type: str
    quantity: str
    expected_price: str | None = None
    client_order_id: str | None = None

    def value(self) -> tuple[Any, ...]:
        expected = None if self.expected_price is None else Decimal(self.expected_price)
        return self.symbol_code, self.trade_type, Decimal(self.quantity), expected, self.client_order_id

    def valid(self) -> bool:
        quantity = Decimal(self.quantity)
        with localcontext(prec=200):
            return 0 < quantity <= 1_000_000 and quantity * 10_000 == int(quantity * 10_000)


@dataclass(frozen=True)
class Answer:
    status: int
    code: str | None = None
    order: dict[str, Any] | None = None
    """The order's fields that can be known beforehand, or the whole order once it was answered."""
    replayed: bool = False
    words: tuple[str, ...] = ()
    """What the message must name."""


@dataclass
class Account:
    symbols: dict[str, Symbol]
    tolerance_percent: Decimal
    limits: dict[str, Decimal]
    nets: dict[str, Decimal] = field(default_factory=lambda: {"gold": Decimal(0), "silver": Decimal(0)})
    orders: list[dict[str, Any]] = field(default_factory=list)
    """As they were answered, oldest first, archived ones too."""
    archived: int = 0
    settled: dict[str, tuple[Body, dict[str, Any] | None]] = field(default_factory=dict)
    """By key: the body it was settled with, and its order; None for a moved price."""

    # --- Orders ---------------------------------------------------------------------------------------

    def place(self, key: str, body: Body) -> Answer:
        """What must be answered. An order that is new is taken in with `booked`, once its answer is there."""
        if not body.valid():
            return Answer(422, "invalid_request")
        if key in self.settled:
            return self._replay(key, body)
        refused = self._market(body)
        if refused is not None:
            return refused
        symbol = self.symbols[body.symbol_code]
        if not self.admits(body):
            return self._limit_exceeded(symbol.metal)
        if self._moved(symbol.price(body.trade_type), body.expected_price):
            self.settled[key] = (body, None)
            return Answer(409, "price_moved")
        return Answer(201, order=self._order(symbol, body))

    def booked(self, key: str, body: Body, order: dict[str, Any]) -> None:
        self.settled[key] = (body, order)
        self.orders.append(order)
        self.nets[self.symbols[body.symbol_code].metal] += self.change(body)

    def _replay(self, key: str, body: Body) -> Answer:
        first, order = self.settled[key]
        if first.value() != body.value():
            return Answer(422, "idempotency_key_reused")
        if order is None:
            return Answer(409, "price_moved", replayed=True)
        return Answer(200, order=order, replayed=True)

    def _market(self, body: Body) -> Answer | None:
        symbol = self.symbols.get(body.symbol_code)
        if symbol is None:
            return Answer(404, "unknown_symbol")
        if not symbol.trading:
            return Answer(400, "symbol_not_trading")
        if body.trade_type not in ("buy", "sell"):
            return Answer(400, "invalid_side")
        if body.trade_type not in symbol.sides:
            return Answer(403, "side_not_offered")
        quantity = Decimal(body.quantity)
        if not symbol.minimum <= quantity <= symbol.maximum or quantity % symbol.step:
            return Answer(400, "quantity_rule")
        if (
            (symbol.group_minimum is not None and quantity < symbol.group_minimum)
            or (symbol.group_maximum is not None and quantity > symbol.group_maximum)
            or (symbol.group_step is not None and quantity % symbol.group_step)
        ):
            return Answer(400, "group_quantity_rule")
        return None

    def change(self, body: Body) -> Decimal:
        return Decimal(body.quantity) * (1 if body.trade_type == "buy" else -1)

    def admits(self, body: Body) -> bool:
        metal = self.symbols[body.symbol_code].metal
        before, after = abs(self.nets[metal]), abs(self.nets[metal] + self.change(body))
        return after <= self.limits[metal] or after < before

    def _limit_exceeded(self, metal: str) -> Answer:
        position = self.positions()[metal]
        unit = UNITS[metal]
        words = (metal, f"{position['free']} {unit}", f"{position['limit']} {unit}")
        return Answer(400, "limit_exceeded", words=words)

    def _moved(self, price: Decimal, expected: str | None) -> bool:
        if expected is None:
            return False
        with localcontext(prec=300):
            wanted = Decimal(expected)
            return abs(price - wanted) > wanted * self.tolerance_percent / 100

    def _order(self, symbol: Symbol, body: Body) -> dict[str, Any]:
        price = symbol.price(body.trade_type)
        with localcontext(prec=100):
            paise = price * Decimal(body.quantity) * 100 / symbol.quoted_weight
            total = (paise + Decimal("0.5")).to_integral_value(ROUND_FLOOR) / 100
        return {
            "environment": "test",
            "symbol_code": body.symbol_code,
            "trade_type": body.trade_type,
            "quantity": f"{Decimal(body.quantity):.4f}",
            "unit": UNITS[symbol.metal],
            "price": f"{price:.2f}",
            "total": f"{total:.2f}",
            "status": "filled",
            "client_order_id": body.client_order_id,
            "deal_label": f"T-{len(self.orders) + 1}",
        }

    # --- Reading --------------------------------------------------------------------------------------

    def positions(self) -> dict[str, dict[str, str]]:
        return {
            metal: {
                "net": f"{net + 0:.4f}",
                "limit": f"{self.limits[metal]:.4f}",
                "used": f"{abs(net):.4f}",
                "free": f"{max(Decimal(0), self.limits[metal] - abs(net)):.4f}",
                "unit": UNITS[metal],
            }
            for metal, net in self.nets.items()
        }

    def listed(
        self,
        limit: int = 50,
        offset: int = 0,
        symbol_code: str | None = None,
        trade_type: str | None = None,
        since: datetime | None = None,
        client_order_id: str | None = None,
    ) -> dict[str, Any]:
        found = [
            order
            for order in reversed(self.orders[self.archived :])
            if symbol_code in (None, order["symbol_code"])
            and trade_type in (None, order["trade_type"])
            and client_order_id in (None, order["client_order_id"])
            and (since is None or datetime.fromisoformat(order["created_at"]) >= since)
        ]
        return {"items": found[offset : offset + limit], "total": len(found)}

    # --- The desk -------------------------------------------------------------------------------------

    def reset(self) -> None:
        self.archived = len(self.orders)
        self.nets = dict.fromkeys(self.nets, Decimal(0))
