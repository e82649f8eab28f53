"""Rupees, weights and counts as people in the trade write them. They are text and stay exact: no float."""

_MINUS = "\N{MINUS SIGN}"
_THIN = "\N{NO-BREAK SPACE}"
_TYPED_MAX = 40
"""No number of ours is written longer; Python itself refuses to read those of thousands of digits."""


def grouped(plain: str) -> str:
    """The Indian way: the last three digits, then pairs: 1234567.50 is 12,34,567.50."""
    sign, digits = (_MINUS, plain[1:]) if plain.startswith("-") else ("", plain)
    whole, point, part = digits.partition(".")
    head, tail = whole[:-3], whole[-3:]
    pairs = []
    while head:
        pairs.append(head[-2:])
        head = head[:-2]
    return sign + ",".join([*reversed(pairs), tail]) + point + part


def ungrouped(text: str) -> str:
    """Without commas where they stand as people put them: a comma in another place may be a lost digit."""
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
    """Without the zeros that say nothing: 5.0000 g is 5 g."""
    return f"{grouped(_short(plain))}{_THIN}{unit}"


def signed_weight(plain: str, unit: str) -> str:
    """A net position: + is what clients have bought of us."""
    short = _short(plain)
    sign = "" if short == "0" or short.startswith("-") else "+"
    return f"{sign}{grouped(short)}{_THIN}{unit}"


def _short(plain: str) -> str:
    short = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if short in ("", "-0") else short


def times_words(count: int) -> str:
    """once, 2 times, 1,234 times"""
    return "once" if count == 1 else f"{grouped(str(count))} times"


def off_words(now: int, was: int) -> str:
    """99.0 % below, 900.0 % above: how far a number is from what it was."""
    tenths = abs(now - was) * 1000 // was
    way = "above" if now > was else "below"
    return f"{grouped(str(tenths // 10))}.{tenths % 10} % {way}"
