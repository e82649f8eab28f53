"""Indian grouping of digits."""

_MINUS = "\N{MINUS SIGN}"


def grouped(plain: str) -> str:
    """The last three digits and then pairs: 1234567.50 is 12,34,567.50."""
    sign, digits = (_MINUS, plain[1:]) if plain.startswith("-") else ("", plain)
    whole, point, part = digits.partition(".")
    head, tail = whole[:-3], whole[-3:]
    pairs = []
    while head:
        pairs.append(head[-2:])
        head = head[:-2]
    return sign + ",".join([*reversed(pairs), tail]) + point + part
