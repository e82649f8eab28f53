"""Messages about orders: a NewOrderSingle to write, an ExecutionReport to read."""

import msgspec

from bullion.hedge.contract import Contract
from bullion.metals.scaled import NotAnAmount, plain, scaled

from .codec import Message, Pair, time_text, time_us
from .order_effects import LineOrder
from .order_ids import client_order_id
from .profile import OrderIdForm, Profile, SymbolForm, TimeInForce

NO_ORDER_ID = ("", "0", "NONE", "UNKNOWN", "[N/A]")
"""What venues write into OrderID, which may not be empty, when they have none."""
_PRICE_PLACES, _QUANTITY_PLACES = 6, 8
_AMOUNT_MAX = 10**16
"""A store can keep it, also as the weight of so many lots."""
NO_SYMBOL = "[N/A]"
DUPLICATE, UNKNOWN = "6", "5"
_FILL_TYPES = ("F", "1", "2")
CANCELLED_TRADE, CORRECTED_TRADE = "H", "G"
CHANGED_TRADES = (CANCELLED_TRADE, CORRECTED_TRADE)


class Report(msgspec.Struct, frozen=True):
    """An ExecutionReport, read."""

    client_order_id: str
    venue_order_id: str
    execution_id: str
    kind: str
    state: str
    symbol: str | None
    security_id: str | None
    side: str | None
    ordered_e8: int | None
    filled_e8: int
    average_e6: int
    last_e8: int
    last_price_e6: int
    at_us: int
    """0: not known, because a message that is sent again says only when that was."""
    day: str
    """Of `at_us`, as `20261231`; empty if it is not known."""
    reason: str
    text: str
    question: str
    execution_ref: str
    replayed: bool

    @property
    def is_fill(self) -> bool:
        return self.kind in _FILL_TYPES and self.last_e8 > 0 and self.execution_id not in NO_ORDER_ID


def new_client_order_id(order_id: str, form: OrderIdForm) -> str:
    """Empty where the store gives the order a number."""
    if form is OrderIdForm.NUMBER:
        return ""
    return order_id if form is OrderIdForm.UUID else client_order_id(order_id)


def new_order(order: LineOrder, profile: Profile, account: str, now_us: int) -> list[Pair]:
    pairs: list[Pair] = [(35, "D"), (11, order.client_order_id)]
    if account:
        pairs.append((1, account))
    pairs += [*security(order.contract, profile), (54, order.side), (60, time_text(now_us))]
    pairs += [(38, quantity_text(order.quantity_e8))]
    if order.limit_e6 is None:
        pairs.append((40, "1"))
    else:
        pairs += [(40, "2"), (44, price_text(order.limit_e6))]
    return [*pairs, (59, "4" if profile.time_in_force is TimeInForce.FOK else "3")]


def missing_identifier(contract: Contract, profile: Profile) -> str:
    """The field of the contract that the profile names it by, if it is empty. The contract cannot know it."""
    field = "security_id" if profile.symbol is SymbolForm.SECURITY_ID else "venue_symbol"
    return "" if getattr(contract, field) else field


def security(contract: Contract, profile: Profile) -> list[Pair]:
    """A ValueError names the field that the contract lacks."""
    if missing := missing_identifier(contract, profile):
        raise ValueError(f"contract {contract.code} has no {missing}")
    if profile.symbol is SymbolForm.SECURITY_ID:
        symbol = contract.venue_symbol or NO_SYMBOL
        return [(55, symbol), (48, contract.security_id), (22, profile.security_id_source)]
    return [(55, contract.venue_symbol)]


def quantity_text(quantity_e8: int) -> str:
    text = plain(quantity_e8, _QUANTITY_PLACES).rstrip("0")
    return text.rstrip(".")


def price_text(price_e6: int) -> str:
    text = plain(price_e6, _PRICE_PLACES).rstrip("0")
    return f"{text}0" if text.endswith(".") else text


def read_report(message: Message) -> Report:
    """A ValueError names a field that is missing or wrong."""
    if message.problem is not None:
        raise ValueError(message.problem.text)
    get = message.first().get
    kind, state = get(150, ""), get(39, "")
    if not kind or not state:
        raise ValueError("150 (ExecType) or 39 (OrdStatus) is missing.")
    is_fill, reason = kind in _FILL_TYPES, get(103, "")
    replayed, at = is_replayed(message), executed_at(message)
    venue_order_id = get(37, "")
    return Report(
        client_order_id=get(11, ""),
        venue_order_id="" if venue_order_id in NO_ORDER_ID else venue_order_id,
        execution_id=get(17, ""),
        kind=kind,
        state=state,
        symbol=get(55),
        security_id=get(48),
        side=get(54),
        ordered_e8=_amount(38, get(38), _QUANTITY_PLACES),
        filled_e8=_amount(14, get(14), _QUANTITY_PLACES, required=reason not in (UNKNOWN, DUPLICATE)) or 0,
        average_e6=_amount(6, get(6), _PRICE_PLACES, cut=True) or 0,
        last_e8=_amount(32, get(32), _QUANTITY_PLACES, required=is_fill) or 0,
        last_price_e6=_amount(31, get(31), _PRICE_PLACES, required=is_fill) or 0,
        at_us=0 if replayed and not at else time_us(at),
        day=at[:8],
        reason=reason,
        text=get(58, "")[:200],
        question=get(790) or get(584, ""),
        execution_ref=get(19, ""),
        replayed=replayed,
    )


def is_replayed(message: Message) -> bool:
    return message.get(43) == "Y" or message.get(97) == "Y"


def executed_at(message: Message) -> str:
    """When it happened; empty if the message does not say."""
    get = message.first().get
    return get(60) or get(122) or ("" if is_replayed(message) else get(52, ""))


def _amount(
    tag: int, text: str | None, places: int, *, required: bool = False, cut: bool = False
) -> int | None:
    if text is None:
        if required:
            raise ValueError(f"{tag} is missing.")
        return None
    if cut:  # An average may have any number of decimals.
        whole, point, part = text.partition(".")
        text = f"{whole}{point}{part[:places]}".rstrip(".")
    try:
        amount = scaled(text, places)
    except NotAnAmount as error:
        raise ValueError(f"{tag}: {error}") from error
    if amount < 0:
        raise ValueError(f"{tag} is below zero.")
    if amount > _AMOUNT_MAX:
        raise ValueError(f"{tag} is too large.")
    return amount


def number_of(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 20 else -1
