"""The symbols of one broker, which are found without a look at the others'."""

from dataclasses import replace

from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.source import Changes
from bullion.unreadable import Unreadable
from tests.booking.fixtures import GOLD

COIN = replace(GOLD, code="COIN")
OTHER = replace(GOLD, broker="other")


def test_they_follow_every_change() -> None:
    catalogue = Catalogue()
    assert catalogue.symbols_of("main") == {}
    catalogue.apply(Changes(1, 0, [GOLD, COIN, OTHER], whole=True), 0)
    assert catalogue.symbols_of("main") == {"GOLD": GOLD, "COIN": COIN}
    assert catalogue.symbols_of("other") == {"GOLD": OTHER}
    frozen = replace(GOLD, frozen=True)
    unreadable = Unreadable("symbol", "main", "COIN", "a wrong number")
    catalogue.apply(Changes(2, 0, [frozen, unreadable]), 0)
    assert catalogue.symbols_of("main") == {"GOLD": frozen}
    catalogue.apply(Changes(3, 0, [COIN]), 0)
    assert catalogue.symbols_of("main") == {"GOLD": frozen, "COIN": COIN}
    catalogue.apply(Changes(4, 0, [OTHER], whole=True), 0)
    assert (catalogue.symbols_of("main"), catalogue.symbols_of("other")) == ({}, {"GOLD": OTHER})
    assert catalogue.symbols == {("other", "GOLD"): OTHER}
