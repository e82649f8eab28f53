"""The venue that is a person at the desk: it takes everything and decides nothing itself."""

import pytest

from bullion.hedge.by_hand import VenueByHand
from bullion.hedge.venue import HedgeRequest, Tradeability, Unconfirmed

pytestmark = pytest.mark.anyio

REQUEST = HedgeRequest("id", "main", "GOLD", "buy", 10_000, 7_000_000, "gold", 999)


async def test_every_order_waits_for_the_desk_however_often_it_is_sent_or_asked_for() -> None:
    venue = VenueByHand()
    for call in (venue.order_status, venue.submit, venue.submit, venue.order_status):
        word = await call(REQUEST)
        assert isinstance(word, Unconfirmed)
        assert "desk" in word.message


async def test_every_instrument_can_be_traded_and_the_venue_is_always_reached() -> None:
    words = await VenueByHand().instruments("main", ["GOLD", "XAUUSD"])
    assert words == {"GOLD": Tradeability.TRADABLE, "XAUUSD": Tradeability.TRADABLE}
    assert await VenueByHand().instruments("main", []) == {}


async def test_it_lists_no_executions_for_the_desks_word_is_in_our_books_at_once() -> None:
    assert list(await VenueByHand().executions("main", "", 10)) == []
