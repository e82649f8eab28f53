"""Rupees, weights and counts as people in the trade write them. They are text, so they stay exact."""

_MINUS = "\N{MINUS SIGN}"
_THIN = "\N{NO-BREAK SPACE}"
_TYPED_MAX = 40
"""Longer than any number of the service. Python refuses to parse numbers of thousands of digits."""


def grouped(plain: str) -> str:
    """Indian grouping, the last three digits and then pairs: 1234567.50 is 12,34,567.50."""
    sign, digits = (_MINUS, plain[1:]) if plain.startswith("-") else ("", plain)
    whole, point, part = digits.partition(".")
    head, tail = whole[:-3], whole[-3:]
    pairs = []
    while head:
        pairs.append(head[-2:])
        head = head[:-2]
    return sign + ",".join([*reversed(pairs), tail]) + point + part


def ungrouped(text: str) -> str:
    """Without the commas of Indian or Western grouping. Other commas stay: a digit may have been lost."""
    if len(text) > _TYPED_MAX:
        return text
    plain = text.replace(",", "").replace(_MINUS, "-")
    whole = plain.lstrip("-").partition(".")[0]
    if "," not in text or not (whole.isascii() and whole.isdigit()):
        return text.replace(_MINUS, "-")
    typed = text.lstrip(f"-{_MINUS}").partition(".")[0]
    return plain if typed in (grouped(whole), f"{int(whole):,}") else text


def rupees(plain: str) -> str:
    return f"₹{_THIN}{grouped(plain)}".replace(f"₹{_THIN}{_MINUS}", f"{_MINUS}₹{_THIN}")


def weight(plain: str, unit: str) -> str:
    """Without trailing zeros: 5.0000 g is 5 g."""
    return f"{grouped(short(plain))}{_THIN}{unit}"


def signed_weight(plain: str, unit: str) -> str:
    """A net position: + = client long."""
    number = short(plain)
    sign = "" if number == "0" or number.startswith("-") else "+"
    return f"{sign}{grouped(number)}{_THIN}{unit}"


def short(plain: str) -> str:
    """A decimal number without trailing zeros, as one would type it."""
    number = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if number == "-0" else number


def is_zero(plain: str) -> bool:
    return plain.strip("-0.") == ""


def count(number: int) -> str:
    return grouped(str(number))


def times_text(number: int) -> str:
    """once, 2 times, 1,234 times"""
    return "once" if number == 1 else f"{count(number)} times"


def deviation_text(now: int, was: int) -> str:
    """99.0 % below, 900.0 % above: how far a number is from an earlier one."""
    tenths = abs(now - was) * 1000 // was
    direction = "above" if now > was else "below"
    return f"{count(tenths // 10)}.{tenths % 10} % {direction}"
