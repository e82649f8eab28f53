"""The order that a request becomes on a line: its contract, its quantity and its limit."""

from collections.abc import Callable, Collection

import msgspec

from bullion.hedge.contract import Contract
from bullion.hedge.venue import Declined, HedgeRequest, VenueUnreachable

from .order_effects import LineOrder
from .order_messages import missing_identifier, new_client_order_id
from .profile import Line, OrderType

Reference = Callable[[Contract], int | None]
"""The price of a contract now, in millionths; None if no fresh one is known."""


class OrderFactory:
    def __init__(
        self, line: Line, contracts: Callable[[], Collection[Contract]], reference: Reference | None
    ) -> None:
        self._line = line
        self._contracts = contracts
        self._reference = reference

    def contracts(self) -> list[Contract]:
        """Those of this line."""
        return [each for each in self._contracts() if each.venue == self._line.name]

    def order(self, request: HedgeRequest) -> LineOrder | Declined:
        """The order as it is sent, or why it cannot be: its own contract, or the one with the finest step."""
        contract = self._contract(request)
        if contract is None:
            return Declined(request.order_id, f"No contract of line {self._line.name} covers it.")
        if missing := missing_identifier(contract, self._line.profile):
            words = f"Contract {contract.code} has no {missing}, by which line {self._line.name} names it."
            return Declined(request.order_id, words)
        cover = request.cover
        quantity_e8 = contract.quantity_e8(request.fine_mg) if cover is None else cover.quantity_e8
        if quantity_e8 <= 0:
            return Declined(request.order_id, f"It is below the smallest quantity of {contract.code}.")
        return LineOrder(
            order_id=request.order_id,
            client_order_id=new_client_order_id(request.order_id, self._line.profile.order_id),
            broker=request.broker,
            instrument=request.instrument,
            trade_type=request.trade_type,
            quantity_e4=request.quantity_e4,
            fine_mg=request.fine_mg,
            quantity_e8=quantity_e8,
            contract=contract,
            limit_e6=self._limit(contract, request.trade_type),
        )

    def with_identifier(self, order: LineOrder) -> LineOrder:
        """The order, to be asked for. Its contract is named as it is now, if it could not be named when the
        order was recorded."""
        if not missing_identifier(order.contract, self._line.profile):
            return order
        now = next((each for each in self.contracts() if each.code == order.contract.code), order.contract)
        names = {"venue_symbol": now.venue_symbol, "security_id": now.security_id}
        return msgspec.structs.replace(order, contract=msgspec.structs.replace(order.contract, **names))

    def _contract(self, request: HedgeRequest) -> Contract | None:
        if request.cover is not None:
            own = request.cover.contract
            return own if own.venue == self._line.name else None
        ours = self.contracts()
        if request.contract:
            return next((each for each in ours if each.code == request.contract), None)
        fitting = [each for each in ours if each.instrument == request.instrument]
        if len(fitting) == 1:
            return fitting[0]
        return min(fitting, key=lambda each: (each.step_mg, each.code), default=None)

    def _limit(self, contract: Contract, trade_type: str) -> int | None:
        profile = self._line.profile
        if profile.order_type is OrderType.MARKET or self._reference is None:
            return None
        price_e6 = self._reference(contract)
        if price_e6 is None:
            raise VenueUnreachable(f"there is no fresh price for a limit on {contract.code}")
        bps, tick = profile.slippage_bps, contract.tick_e6
        if trade_type == "buy":
            return -(-price_e6 * (10_000 + bps) // (10_000 * tick)) * tick
        return max(price_e6 * (10_000 - bps) // (10_000 * tick) * tick, tick)
