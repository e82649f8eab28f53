"""Contracts and events that the tests of the hedge book share."""

import msgspec

from bullion.hedge.book.events import ClientDeal, CoverFill
from bullion.hedge.book.profit import Mark, Quote
from bullion.hedge.contract import ONE_E8, Contract
from bullion.hedge.contracts_seed import seed_contracts
from bullion.metals.fine_weight import NG_PER_G

SEED = {contract.code: contract for contract in seed_contracts("mcx", "comex", "spot")}
GOLD, GOLDM, GOLDPETAL, GC, XAU = (SEED[code] for code in ("GOLD", "GOLDM", "GOLDPETAL", "GC", "XAU"))
AUTO = {code: msgspec.structs.replace(each, mode="auto") for code, each in SEED.items()}
MARK = Mark(Quote(124_900 * 10**6, 125_100 * 10**6), 10 * NG_PER_G, 9_950)
"""₹1,24,900 bid and ₹1,25,100 ask for 10 g of 995."""


def deal(
    change_mg: int, cash_paise: int, reference_paise: int | None = None, duty_paise: int = 0
) -> ClientDeal:
    reference = cash_paise if reference_paise is None else reference_paise
    return ClientDeal("order", change_mg, cash_paise, reference, duty_paise, 0)


def fill(
    contract: Contract,
    lots: int,
    rupees: int,
    *,
    execution_id: str = "e1",
    reference: int | None = None,
    fee_minor: int = 0,
    dollar_e6: int = 0,
    cover_id: str = "c1",
) -> CoverFill:
    """`rupees` and `reference` are prices in whole units of the contract's currency."""
    return CoverFill(
        execution_id,
        cover_id,
        contract,
        lots * ONE_E8,
        rupees * 10**6,
        (rupees if reference is None else reference) * 10**6,
        fee_minor,
        dollar_e6,
        0,
    )
