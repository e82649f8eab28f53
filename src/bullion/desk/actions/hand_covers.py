"""What the desk covers by hand where it is the venue: all of an order, or a part of it."""

from dataclasses import dataclass

from bullion.booking.partial_fills import LAST_CHILD, Part, child_id
from bullion.desk.bodies import ConfirmBody
from bullion.desk.problems import invalid_field
from bullion.hedge.simulated import REFUSED
from bullion.hedge.venue import Fill
from bullion.hedge.venues import BY_HAND
from bullion.metals.fine_weight import fine_mg
from bullion.metals.rounding import half_up
from bullion.metals.rupees import paise
from bullion.metals.weight import weight_e4, weight_text
from bullion.orders.order import Order
from bullion.records.hedges import Cover, Execution, Hedge, OrderFill
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

_E8_PER_E4 = _E6_PER_PAISA = 10_000


@dataclass(frozen=True, slots=True)
class Leg:
    """What is left to cover of an order, and the id that it is covered under."""

    order: Order
    hedge: Hedge
    child: int
    """0 is the order itself. Each part has an id of its own, as those of a venue have."""
    quantity_e4: int
    fine_mg: int

    @property
    def sent_id(self) -> str:
        return child_id(self.order.id, self.child)

    def require_left(self, seen: str | None) -> None:
        """Refuse a cover of somebody who saw another rest: it was covered twice, or by two dealers."""
        if seen is not None and weight_e4(seen) != self.quantity_e4:
            left, not_left = weight_text(self.quantity_e4), weight_text(weight_e4(seen))
            raise RefusalError(
                CONFLICT, f"{left} of this order are left to cover, not {not_left}. Nothing was confirmed."
            )

    def part(self, covered: str | None) -> Part:
        """What is covered of it now; None: all of it."""
        covered_e4 = self.quantity_e4 if covered is None else weight_e4(covered)
        if covered_e4 > self.quantity_e4:
            raise invalid_field(
                ("covered",), f"is more than is left to cover, {weight_text(self.quantity_e4)}"
            )
        if covered_e4 == self.quantity_e4:
            return Part(self.quantity_e4, self.fine_mg, 0, 0)
        if self.child >= LAST_CHILD:
            raise RefusalError(CONFLICT, "This order was covered in too many parts. Cover all of the rest.")
        covered_mg = half_up(self.fine_mg * covered_e4, self.quantity_e4)
        return Part(covered_e4, covered_mg, self.quantity_e4 - covered_e4, self.fine_mg - covered_mg)

    def execution(self, part: Part, outcome: str, execution_id: str, at_us: int) -> Execution:
        side = self.order.asked.trade_type
        return Execution(
            self.sent_id, self.hedge.instrument, side, part.filled_e4, outcome, execution_id, at_us
        )


def leg_of(order: Order, hedge: Hedge) -> Leg:
    rest = hedge.rest
    if rest is None:
        quantity_e4 = order.asked.quantity_e4
        return Leg(order, hedge, 0, quantity_e4, fine_mg(quantity_e4, order.metal, hedge.fineness_e4))
    # The child of a rest that waits for the desk has its answer.
    child = rest.child + 1 if hedge.partly_covered else rest.child
    if child > LAST_CHILD:
        raise RefusalError(CONFLICT, "The rest of this order was sent too often. Take or refuse it.")
    return Leg(order, hedge, child, rest.quantity_e4, rest.fine_mg)


def noted_cover(body: ConfirmBody) -> Cover | None:
    if body.cover_price is None and body.cover_reference is None:
        return None
    price = body.cover_price
    return Cover(None if price is None else paise(price), body.cover_reference)


async def note_cover(records: Records, broker: str, leg: Leg, execution: Execution, cover: Cover) -> None:
    """A cover with a price is a fill, in the metal's unit and for the weight of the order's price."""
    await records.put_cover(leg.order, cover)
    if cover.price_paise is None:
        return
    fill = Fill(
        execution.execution_id,
        execution.quantity_e4 * _E8_PER_E4,
        cover.price_paise * _E6_PER_PAISA,
        execution.at_us,
    )
    await records.insert_fill(broker, leg.order, OrderFill(leg.sent_id, BY_HAND, fill))


async def execute(records: Records, broker: str, wanted: Execution) -> Execution:
    """Record the desk's answer in the venue's book: each id has at most one answer."""
    stored = await records.execute(broker, wanted)
    same_weight = stored.quantity_e4 == wanted.quantity_e4 or wanted.outcome == REFUSED
    if stored.outcome != wanted.outcome or not same_weight:
        what = "this order" if same_weight else f"{weight_text(stored.quantity_e4)} of this order"
        raise RefusalError(
            CONFLICT,
            f"The simulated venue {stored.outcome} {what} before the desk took over, as "
            f"{stored.execution_id}. The desk must give the same answer.",
        )
    return stored
