"""Values out of answers: which field of the service becomes which field of ours."""

from bullion_client.answer import Answer, request_id
from bullion_client.enums import Metal, OrderStatus, TradeType, Unit
from bullion_client.environment import Environment
from bullion_client.errors import UnknownSymbol
from bullion_client.market import Quote, Symbol
from bullion_client.order import Order, OrderPage, ProductionOrder, TestOrder
from bullion_client.positions import MetalPosition, Positions, SymbolPosition


def read_order(answer: Answer, environment: Environment) -> Order:
    """An order of this environment."""
    return read_test_order(answer) if environment == Environment.TEST else read_production_order(answer)


def read_test_order(answer: Answer) -> TestOrder:
    """An order of the test environment."""
    return TestOrder(
        id=answer.text("id"),
        environment=_environment(answer, Environment.TEST),
        symbol_code=answer.text("symbol_code"),
        trade_type=TradeType(answer.text("trade_type")),
        quantity=answer.decimal("quantity"),
        unit=Unit(answer.text("unit")),
        price=answer.decimal("price") if answer.has("price") else None,
        total=answer.decimal("total") if answer.has("total") else None,
        status=OrderStatus(answer.text("status")),
        client_order_id=answer.text("client_order_id") if answer.has("client_order_id") else None,
        created_at=answer.time("created_at") if answer.has("created_at") else None,
        deal_label=answer.text("deal_label"),
    )


def read_production_order(answer: Answer) -> ProductionOrder:
    """An order in earnest. Whatever is not required of it may be null, or not be there."""
    return ProductionOrder(
        id=answer.text("id"),
        environment=_environment(answer, Environment.PRODUCTION),
        symbol_code=answer.text("symbol_code"),
        trade_type=TradeType(answer.text("trade_type")),
        quantity=answer.decimal("quantity"),
        unit=Unit(answer.text("unit")),
        price=answer.decimal("price") if answer.has("price") else None,
        total=answer.decimal("total") if answer.has("total") else None,
        status=OrderStatus(answer.text("status")),
        client_order_id=answer.text("client_order_id") if answer.has("client_order_id") else None,
        created_at=answer.time("created_at") if answer.has("created_at") else None,
        deal_no=answer.integer("deal_no") if answer.has("deal_no") else None,
        status_detail=answer.text("status_detail"),
        source=answer.text("source") if answer.has("source") else None,
        close_price=answer.decimal("close_price") if answer.has("close_price") else None,
        realized_pnl=answer.decimal("realized_pnl") if answer.has("realized_pnl") else None,
        closed_at=answer.time("closed_at") if answer.has("closed_at") else None,
    )


def read_page(answer: Answer, environment: Environment) -> OrderPage:
    """A page of the list of orders."""
    items = answer.inners("items", lambda item: read_order(item, environment))
    return OrderPage(items, answer.integer("total"))


def read_symbols(answer: Answer) -> tuple[Symbol, ...]:
    """What can be traded."""
    return answer.inners("items", _read_symbol)


def read_quotes(answer: Answer, symbol_code: str | None) -> tuple[Quote, ...]:
    """Read the quotes of all symbols, or of the one that was asked for."""
    quotes = answer.inners("items", _read_quote)
    if symbol_code is not None and not quotes:
        response = answer.response
        raise UnknownSymbol(
            "unknown_symbol",
            response.status_code,
            f"There is no symbol {symbol_code!r}",
            request_id=request_id(response),
        )
    return quotes


def read_positions(answer: Answer) -> Positions:
    """What is held. Only production has a part for the symbols."""
    return Positions(
        gold=_read_metal_position(answer.inner("gold")),
        silver=_read_metal_position(answer.inner("silver")),
        symbols=answer.inners("symbols", _read_symbol_position) if answer.has("symbols") else (),
    )


def _environment(answer: Answer, usual: Environment) -> Environment:
    return Environment(answer.text("environment")) if answer.has("environment") else usual


def _read_symbol(answer: Answer) -> Symbol:
    return Symbol(
        symbol_code=answer.text("symbol_code"),
        metal=Metal(answer.text("metal")),
        unit=Unit(answer.text("unit")),
        quoted_weight=answer.decimal("quoted_weight"),
        minimum=answer.decimal("minimum"),
        maximum=answer.decimal("maximum"),
        step=answer.decimal("step"),
        sides=tuple(TradeType(side) for side in answer.texts("sides")),
        trading=answer.flag("trading"),
    )


def _read_quote(answer: Answer) -> Quote:
    return Quote(
        symbol_code=answer.text("symbol_code"),
        buy=answer.decimal("buy") if answer.has("buy") else None,
        sell=answer.decimal("sell") if answer.has("sell") else None,
        at=answer.time("at") if answer.has("at") else None,
        tradable=answer.flag("tradable"),
        reason=answer.text("reason") if answer.has("reason") else None,
    )


def _read_metal_position(answer: Answer) -> MetalPosition:
    return MetalPosition(
        net=answer.decimal("net"),
        limit=answer.decimal("limit"),
        used=answer.decimal("used"),
        free=answer.decimal("free"),
        unit=Unit(answer.text("unit")),
    )


def _read_symbol_position(answer: Answer) -> SymbolPosition:
    return SymbolPosition(
        symbol_code=answer.text("symbol_code"),
        metal=Metal(answer.text("metal")),
        buy=answer.decimal("buy"),
        sell=answer.decimal("sell"),
        net=answer.decimal("net"),
        unit=Unit(answer.text("unit")),
    )
