"""The planner's turn over all books, without a store."""

import pytest

from bullion.booking.cover_planning import BookName, CoverPlanning, Outlook, Revision, TelephoneOutlook
from bullion.faults import StoreConflict

pytestmark = pytest.mark.anyio


class Books:
    """Those of some brokers. The first one cannot be planned for."""

    def __init__(self, fault: Exception) -> None:
        self._fault = fault
        self.planned: list[BookName] = []

    async def books(self) -> list[BookName]:
        return [("anand", "gold"), ("bharat", "gold"), ("chand", "silver")]

    async def plan(self, name: BookName, outlook: Outlook) -> Revision:
        assert outlook.plans(name[0])
        if name[0] == "anand":
            raise self._fault
        self.planned.append(name)
        return Revision()


@pytest.mark.parametrize("fault", [ValueError("a rule that cannot be read"), StoreConflict("in its way")])
async def test_a_book_that_cannot_be_planned_for_does_not_keep_the_others_waiting(fault: Exception) -> None:
    books = Books(fault)
    with pytest.raises(type(fault)):  # The loop logs it.
        await CoverPlanning(books, TelephoneOutlook()).plan()
    assert books.planned == [("bharat", "gold"), ("chand", "silver")]
