"""Two people at the same form: the second undoes nothing that the first did, and hears why."""

from collections.abc import Iterator

import pytest

from tests.support.clerk import Clerk, clerk
from tests.support.console import ConsoleProcess
from tests.support.desk import SYMBOL, Office, nothing_changed

pytestmark = pytest.mark.xdist_group("console")


@pytest.fixture
def at(console: ConsoleProcess, office: Office) -> Iterator[Clerk]:
    with clerk(console, office) as at:
        yield at


def test_what_is_there_is_not_made_again(at: Clerk, office: Office) -> None:
    symbol = {"minimum": "1", "maximum": "5", "step": "1", "instrument": "X"}
    entry = {"from_date": "2099-01-01", "rupees": "9"}
    # The lists that the pages share have been read before these are made.
    for tab in ("groups", "symbols", "duty"):
        at.see(f"market/{tab}")
    office.desk.do("PUT", "/groups/mine", {"default_terms": {"buy_premium": "100"}})
    office.desk.do("PUT", "/symbols/MINE", SYMBOL)
    office.desk.do("PUT", "/duties/mine", [{"from": "2024-01-01", "rupees": "7500"}])
    with nothing_changed(office.desk):
        assert at.mistyped("market/new-group", code="mine") == {"code": "There is a group mine already."}
        told = at.mistyped("market/new-symbol", code="MINE", **symbol)
        assert told == {"code": "There is a symbol MINE already."}
        told = at.mistyped("market/new-duty", name="mine", **entry)
        assert told == {"name": "There is a duty table mine already."}
    at.do("market/new-group", code="other")
    at.do("market/new-symbol", code="OTHER", **symbol)
    at.do("market/new-duty", name="other", **entry)
