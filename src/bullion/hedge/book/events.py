"""What happens to a hedge book. The position and the profit are folds over these events."""

import msgspec

from bullion.hedge.contract import DOLLARS, Contract
from bullion.metals.symbol import Side


class OrderWaits(msgspec.Struct, frozen=True):
    """A client's order was accepted, and the limit holds back its confirmation."""

    order_id: str
    change_mg: int


class WaitEnds(msgspec.Struct, frozen=True):
    """A waiting order was confirmed, refused or deleted."""

    order_id: str


class OrderCover(msgspec.Struct, frozen=True):
    """What the venue dealt for one client's order, in the moment in which the order became a deal."""

    change_mg: int
    cash_paise: int
    """Below 0 for metal bought. Of covers in rupees."""
    cash_cents: int
    """Of covers in dollars."""
    dollar_e6: int
    """Rupees for a dollar; not used without `cash_cents`."""
    reference_paise: int
    """The cash at the market's price of the client's deal."""


class ClientDeal(msgspec.Struct, frozen=True):
    """A deal with a client: an order was confirmed, closed, or deleted after it was confirmed."""

    order_id: str
    change_mg: int
    """Above 0: the house receives metal."""
    cash_paise: int
    """Above 0: the house receives money."""
    reference_paise: int
    """The cash at the market's price at that moment, without premium, duty and margin."""
    duty_paise: int
    """The duty within the cash, with its sign."""
    at_us: int
    cover: OrderCover | None = None
    """Under the policy `each`: its own cover."""


class CoverSent(msgspec.Struct, frozen=True):
    """A cover was recorded to be sent. Until it ends, its rest counts in full."""

    cover_id: str
    contract: Contract
    quantity_e8: int
    """Above 0: a buy."""


class CoverEnds(msgspec.Struct, frozen=True):
    """The venue gave its final answer: nothing more is executed under this id."""

    cover_id: str


class CoverFill(msgspec.Struct, frozen=True):
    """A fill of a cover. An execution id of a venue counts once."""

    execution_id: str
    cover_id: str
    contract: Contract
    quantity_e8: int
    """Above 0: a buy."""
    price_e6: int
    reference_e6: int
    """The market's price when the cover was sent: the middle of bid and ask."""
    fee_minor: int
    """In paise or cents, the contract's currency; above 0 is a cost."""
    dollar_e6: int
    """Rupees for a dollar at that moment; not used for a contract in rupees."""
    at_us: int
    change_mg: int | None = None
    """What the position counted for it. None: by the quantity that was held before."""

    @property
    def key(self) -> tuple[str, str]:
        return self.contract.venue, self.execution_id

    @property
    def venue_values(self) -> tuple[str, str, int, int]:
        """What the venue says of it, which is the same however often it says it."""
        return self.cover_id, self.contract.code, self.quantity_e8, self.price_e6

    @property
    def in_dollars(self) -> bool:
        return self.contract.currency == DOLLARS


class CurrencyDeal(msgspec.Struct, frozen=True):
    """The desk bought or sold dollars for rupees."""

    deal_id: str
    cents: int
    """Above 0: dollars bought."""
    cash_paise: int
    """Below 0 for dollars bought."""
    fee_paise: int
    at_us: int


BookEvent = OrderWaits | WaitEnds | ClientDeal | CoverSent | CoverEnds | CoverFill | CurrencyDeal


def house_change_mg(side: str, fine_mg: int) -> int:
    """What a client's order of that side does to the house's metal."""
    return -fine_mg if side == Side.BUY else fine_mg


def close_of(
    deal: ClientDeal, client_gain_paise: int, reference_paise: int, duty_paise: int, at_us: int
) -> ClientDeal:
    """The closing of a deal: the house takes it back, and pays the client its gain.

    `reference_paise` and `duty_paise` are of the close, with its signs.
    """
    return ClientDeal(
        order_id=deal.order_id,
        change_mg=-deal.change_mg,
        cash_paise=-deal.cash_paise - client_gain_paise,
        reference_paise=reference_paise,
        duty_paise=duty_paise,
        at_us=at_us,
    )


def deletion_of(deal: ClientDeal, at_us: int) -> ClientDeal:
    """The deletion of a deal undoes it at its own prices; what the market did meanwhile becomes realised."""
    return ClientDeal(
        order_id=deal.order_id,
        change_mg=-deal.change_mg,
        cash_paise=-deal.cash_paise,
        reference_paise=-deal.reference_paise,
        duty_paise=-deal.duty_paise,
        at_us=at_us,
    )
