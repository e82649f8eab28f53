"""What can be traded, and at what price. Both are extensions."""

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from bullion.metals.symbol import Side

from .values import Instant, MetalText, Rupees, SideText, SymbolCode, Unit, Weight, about


class Symbol(Struct):
    """A symbol as the account may trade it, after the terms of its group."""

    symbol_code: Annotated[str, about("What an order names it by.", "GOLD")]
    metal: Annotated[MetalText, about("Which allocation its orders count against.", "gold")]
    unit: Annotated[Unit, about("The unit of every weight here and in its orders.", "g")]
    quoted_weight: Annotated[
        Weight, about("The weight that a price is for: `10.0000` means rupees per 10 g.", "10.0000")
    ]
    minimum: Annotated[Weight, about("The smallest quantity of an order.", "1.0000")]
    maximum: Annotated[Weight, about("The largest quantity of an order.", "10000.0000")]
    step: Annotated[Weight, about("A quantity must be a multiple of this.", "1.0000")]
    sides: Annotated[
        list[SideText],
        about("The sides that are offered to the account.", [side.value for side in Side], uniqueItems=True),
    ]
    trading: Annotated[bool, about("Whether trading is on for the symbol.", example=True)]


class Symbols(Struct):
    """The symbols of the broker."""

    items: list[Symbol]


class Quote(Struct):
    """The account's own prices in a symbol. They are not binding: an order is priced again."""

    symbol_code: Annotated[str, about("The symbol.", "GOLD")]
    buy: Annotated[
        Rupees | None, about("What a buy would pay now, in rupees per quoted weight.", "150630.00")
    ]
    sell: Annotated[
        Rupees | None, about("What a sell would get now, in rupees per quoted weight.", "150313.00")
    ]
    at: Annotated[
        Instant | None,
        about(
            "When the oldest rate behind the price was quoted; null for a fixed price.",
            "2026-11-15T04:31:20.904118+00:00",
        ),
    ]
    tradable: Annotated[bool, about("Whether the market would accept an order now.", example=True)]
    reason: Annotated[
        str | None, about("If not tradable: the code of the refusal that an order would get.", None)
    ]


class Quotes(Struct):
    """Prices of the moment."""

    items: list[Quote]


class QuoteQuery(Struct):
    """The query of the prices."""

    symbol_code: Annotated[SymbolCode | UnsetType, about("Only the quote of this symbol.")] = UNSET
