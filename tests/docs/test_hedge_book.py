"""The page on the hedge book: its example and its rules are those of the code."""

import re

from bullion.hedge.book.events import BookEvent, ClientDeal, CoverFill
from bullion.hedge.book.profit import Mark, Quote, fold_profit
from bullion.hedge.book.rules import EXPIRY_ALARM_DAYS, RuleKind
from bullion.hedge.contract import ONE_E8
from bullion.hedge.contracts_seed import seed_contracts
from bullion.metals.fine_weight import NG_PER_G
from bullion.metals.metal import Metal
from bullion.metals.rupees import rupees_text
from tests.docs.markdown import ROOT

PAGE = (ROOT / "docs/hedge-book.md").read_text("utf-8")
GOLDM = next(contract for contract in seed_contracts() if contract.code == "GOLDM")


def rows(heading: str) -> list[list[str]]:
    lines = PAGE.partition(f"# {heading}\n")[2].partition("\n#")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


def test_the_example() -> None:
    events: list[BookEvent] = [
        ClientDeal("a", -99_500, 12_55_000_00, 12_50_000_00, 0, 0),
        CoverFill("e", "c", GOLDM, ONE_E8, 125_040 * 10**6, 125_030 * 10**6, 50_00, 0, 0),
        ClientDeal("b", -19_900, 2_51_200_00, 2_50_200_00, 0, 0),
    ]
    mark = Mark(Quote(125_000 * 10**6, 125_200 * 10**6), 10 * NG_PER_G, 9_950)
    columns = []
    for number in (1, 2, 3):
        book = fold_profit(events[:number])
        profit = book.profit(mark)
        money = (
            book.cash_paise,
            profit.premium,
            profit.slippage,
            profit.realised,
            profit.unrealised,
            profit.fees,
            profit.total,
        )
        columns.append([str(book.metal.amount), *map(rupees_text, money)])
    assert [row[1:] for row in rows("Example")[2:]] == [list(row) for row in zip(*columns, strict=True)]


def test_every_usual_contract_is_on_the_page() -> None:
    named = {row[0]: set(re.findall(r"`(\w+)`", row[1])) for row in rows("Contracts")[2:]}
    seed = seed_contracts()
    assert named == {metal: {each.code for each in seed if each.metal == metal} for metal in Metal}


def test_every_rule_is_on_the_page() -> None:
    assert [row[0].strip("`") for row in rows("Rules")[2:]] == [kind.value for kind in RuleKind]
    assert EXPIRY_ALARM_DAYS == 5
    assert "Five days before" in PAGE
