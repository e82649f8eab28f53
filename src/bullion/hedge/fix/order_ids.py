"""ClOrdIDs: an order's id in 22 characters of base 62, because many venues do not take a UUID's 36.

The id of a child, `<uuid>b`, keeps its letter at the end. A venue that takes fewer characters gets a number,
which is stored with the order before it is sent.
"""

from uuid import UUID

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}
_UUID_TEXT = 36
SIZE = 22
"""The size without a child's letter."""


def client_order_id(order_id: str) -> str:
    """A ValueError if it is not a UUID with at most one letter behind it."""
    uuid, child = order_id[:_UUID_TEXT], order_id[_UUID_TEXT:]
    number = UUID(uuid).int
    if str(UUID(uuid)) != uuid or (child and not _is_child(child)):
        raise ValueError(f"{order_id!r} is not the id of an order")
    digits = []
    for _ in range(SIZE):
        number, digit = divmod(number, 62)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits)) + child


def order_id_of(client_order_id: str) -> str:
    """The id that it was made from. A ValueError if it was not made by `client_order_id`."""
    digits, child = client_order_id[:SIZE], client_order_id[SIZE:]
    if len(digits) != SIZE or (child and not _is_child(child)) or not set(digits) <= _VALUES.keys():
        raise ValueError(f"{client_order_id!r} is not a ClOrdID of this service")
    number = 0
    for digit in digits:
        number = number * 62 + _VALUES[digit]
    if number >> 128:
        raise ValueError(f"{client_order_id!r} is not a ClOrdID of this service")
    return str(UUID(int=number)) + child


def _is_child(text: str) -> bool:
    return len(text) == 1 and "b" <= text <= "z"
