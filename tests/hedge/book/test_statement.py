"""The venue's statement against our fills."""

import pytest

from bullion.hedge.book.statement import Difference, Trade, compare_statement, read_statement
from bullion.hedge.contract import ONE_E8

OURS = [
    Trade("e1", "GOLDM", "buy", 2 * ONE_E8, 125_000_500_000),
    Trade("e2", "XAU", "sell", ONE_E8 // 2, 4_800_250_000),
]
GOOD = "execution_id,symbol,side,quantity,price\ne1,GOLDM,buy,2,125000.50\ne2,XAU,sell,0.5,4800.25\n"


def test_a_statement_that_agrees() -> None:
    report = compare_statement(GOOD, OURS)
    assert report.agrees
    assert report.matched == 2


def test_columns_in_any_order_and_case_with_others_between_them() -> None:
    text = (
        "\ufeffPrice,Trade No,time,Qty,Symbol,BUY-SELL\r\n"
        '"1,25,000.50",e1,09:15,2.000,goldm,B\r\n'
        "\r\n"
        "4800.25,e2,,0.5,XAU,2\r\n"
    )
    report = compare_statement(text, OURS)
    assert report.agrees, report


def test_missing_extra_and_different_trades() -> None:
    text = "execution_id,symbol,side,quantity,price\ne1,GOLD,sell,3,125000.51\ne9,XAU,buy,1,4800\n"
    report = compare_statement(text, OURS)
    assert [trade.execution_id for trade in report.missing] == ["e2"]
    assert [trade.execution_id for trade in report.extra] == ["e9"]
    assert report.different == (
        Difference("e1", "symbol", "GOLDM", "GOLD"),
        Difference("e1", "side", "buy", "sell"),
        Difference("e1", "quantity", "2.00000000", "3.00000000"),
        Difference("e1", "price", "125000.500000", "125000.510000"),
    )
    assert report.matched == 0
    assert not report.agrees


def test_a_trade_of_the_venue_accounts_for_one_fill() -> None:
    """The book counts an execution for an order and for a cover, or the venue gave its id twice on a day."""
    other = Trade("e1", "GOLDM", "buy", ONE_E8, 125_000_500_000)
    for ours in ([*OURS, other], [other, *OURS], [*OURS, OURS[0]]):
        report = compare_statement(GOOD, ours)
        assert report.matched == 2
        assert report.missing == (other if other in ours else OURS[0],)
        assert not report.agrees


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("e3,XAU,buy,1", "has 4 values"),
        (",XAU,buy,1,1", "execution_id is empty"),
        ("e3,,buy,1,1", "symbol is empty"),
        ("e3,XAU,hold,1,1", "side must be"),
        ("e3,XAU,buy,NaN,1", "quantity"),
        ("e3,XAU,buy,0,1", "quantity must be above 0"),
        ("e3,XAU,buy,1,-5", "price must be above 0"),
        ("e3,XAU,buy,1,1e3", "price"),
        ("e3,XAU,buy,1,1.0000001", "more than 6 decimal places"),
        ("e1,GOLDM,buy,2,125000.50", "listed twice"),
    ],
)
def test_a_bad_line_is_told_by_its_number(line: str, words: str) -> None:
    report = compare_statement(GOOD + line + "\n", OURS)
    (bad,) = report.bad_lines
    assert bad.line == 4
    assert words in bad.message
    assert (report.matched, report.missing, report.extra) == (2, (), ())


def test_all_mistakes_of_all_lines_are_told() -> None:
    _, bad = read_statement(GOOD + ",,x,y,z\n\ne5,XAU,buy,1\n")
    assert [each.line for each in bad] == [4, 6]
    assert all(word in bad[0].message for word in ("execution_id", "symbol", "side", "quantity", "price"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        ("execution_id,price\ne1,5\n", "columns are missing: symbol, side, quantity"),
    ],
)
def test_a_statement_without_its_columns(text: str, words: str) -> None:
    trades, (bad,) = read_statement(text)
    assert not trades
    assert words in bad.message


def test_an_oversized_cell_is_a_bad_line() -> None:
    trades, (bad,) = read_statement(GOOD + "e" * 200_000 + ",XAU,buy,1,1\n")
    assert len(trades) == 2
    assert "not CSV" in bad.message
