"""ClOrdIDs are reversible, short, and nothing else is taken for one."""

from random import Random
from uuid import UUID

import pytest

from bullion.hedge.fix.order_ids import client_order_id, order_id_of

ALL_BITS = str(UUID(int=(1 << 128) - 1))


def test_every_id_and_its_children_come_back() -> None:
    chance = Random(3)  # noqa: S311
    ids = [str(UUID(int=chance.getrandbits(128))) for _ in range(200)]
    for each in (*ids, str(UUID(int=0)), ALL_BITS):
        for child in ("", "b", "f", "z"):
            short = client_order_id(each + child)
            assert len(short) == 22 + len(child)
            assert short.isalnum()
            assert order_id_of(short) == each + child


@pytest.mark.parametrize("text", ["", "7", ALL_BITS + "bb", ALL_BITS + "a", ALL_BITS + "B", ALL_BITS.upper()])
def test_what_is_not_an_order_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"UUID|id of an order"):
        client_order_id(text)


@pytest.mark.parametrize("text", ["", "7", "0" * 21, "0" * 21 + "-", "z" * 22, "0" * 22 + "a", "0" * 24])
def test_what_is_not_ours_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a ClOrdID"):
        order_id_of(text)
