"""Orders that lie in the archive: those of one book, one after the other, packed together into one text.

Together, because one order looks much like the next: packed it takes a sixth of its size. Few enough that
taking one of them out again is a matter of a fraction of a millisecond.
"""

import zlib
from base64 import b85decode, b85encode
from collections.abc import Iterator, Sequence

import msgspec

from .order import Order

TOGETHER_MAX = 64
"""How many orders are packed together at the most. It is also what is moved in one transaction."""

_decode = msgspec.json.Decoder(Order).decode
_encode = msgspec.json.Encoder().encode
_NEW_LINE = b"\n"


class PackedOrders(msgspec.Struct, frozen=True):
    book_id: int
    first_ordinal: int
    last_ordinal: int
    from_us: int
    """When the first of them was made, and the last."""
    to_us: int
    plain_bytes: int
    """How much they were before they were packed."""
    packed: str
    """A line of JSON for each order, compressed; as text, because the store keeps text."""

    @property
    def count(self) -> int:
        return self.last_ordinal - self.first_ordinal + 1

    def order(self, ordinal: int) -> Order | None:
        if not self.first_ordinal <= ordinal <= self.last_ordinal:
            return None
        return _decode(self._lines()[ordinal - self.first_ordinal])

    def orders(self) -> Iterator[Order]:
        return map(_decode, self._lines())

    def _lines(self) -> list[bytes]:
        """JSON has no new line inside: it writes one in a text as `\\n`."""
        return zlib.decompress(b85decode(self.packed)).split(_NEW_LINE)


def pack(orders: Sequence[Order]) -> PackedOrders:
    """Orders of one book whose ordinals have no gap, oldest first. There has to be one."""
    first, last = orders[0], orders[-1]
    expected = range(first.ordinal, first.ordinal + len(orders))
    if [(order.book_id, order.ordinal) for order in orders] != [(first.book_id, each) for each in expected]:
        raise ValueError("orders are packed book by book, without a gap")
    plain = _NEW_LINE.join([_encode(order) for order in orders])
    return PackedOrders(
        book_id=first.book_id,
        first_ordinal=first.ordinal,
        last_ordinal=last.ordinal,
        from_us=first.created_at_us,
        to_us=last.created_at_us,
        plain_bytes=len(plain),
        packed=b85encode(zlib.compress(plain)).decode("ascii"),
    )
