"""A field of an order that the command line does not know yet is printed under its own name."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from bullion_client import OrderStatus, TestOrder, TradeType, Unit
from bullion_client.cli.formatting import instant
from bullion_client.cli.order_view import print_order


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterOrder(TestOrder):
    __test__ = False

    is_deal: bool = True
    rate_at: datetime = datetime(2026, 11, 15, 4, 31, tzinfo=UTC)
    fine_weight: Decimal = Decimal("4.9950")
    dealer_note: str | None = "by\x1btelephone"
    lot: str | None = None


def test_further_fields_follow_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    order = LaterOrder(
        id="01a1dd79-5ea2-7c31-8d52-6e1f0b94a7c3",
        symbol_code="GOLD",
        trade_type=TradeType.BUY,
        quantity=Decimal("5.0000"),
        unit=Unit.GRAM,
        status=OrderStatus.FILLED,
        deal_label="T-1",
    )
    print_order(order)
    *_, deal, rate, weight, note, lot = (
        tuple(re.split(r"\s{2,}", line)) for line in capsys.readouterr().out.splitlines()
    )
    assert deal == ("is deal", "yes")
    assert rate == ("rate at", instant(order.rate_at))
    assert weight == ("fine weight", "4.9950")
    assert note == ("dealer note", r"by\x1btelephone")
    assert lot == ("lot", "-")
