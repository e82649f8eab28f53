"""Entries about the hedge book: venues, lines, contracts, rules, covers and statements."""

from collections.abc import Callable, Iterator

from .parts import (
    Ref,
    Sentence,
    State,
    Told,
    change_text,
    changed_fields,
    changed_flags,
    write_number,
    write_percent,
    write_plain,
    write_weight,
)


def tell_venue(told: Told) -> Iterator[Sentence]:
    begin: Sentence = [Ref("venue", "", "simulated venue"), ": "]
    delay = ("answers after", lambda value: f"{value} ms")
    yield from changed_fields(
        told,
        begin,
        {
            "mode": ("mode", write_plain),
            "delay_ms": delay,
            "fill_percent": ("fills", write_percent),
            "unasked": ("reports by itself", write_plain),
        },
    )
    was, now = told.before.get("instruments") or {}, told.after.get("instruments") or {}
    for name in sorted({*was, *now}):
        if was.get(name) != now.get(name):
            yield [*begin, change_text(name, was.get(name), now.get(name), write_plain)]


def tell_line(done: str) -> Callable[[Told], Iterator[Sentence]]:
    def told_by(told: Told) -> Iterator[Sentence]:
        yield [f"line {told.subject} {done}: {told.after['reason']}"]

    return told_by


def tell_hedge_book(told: Told) -> Iterator[Sentence]:
    written = {
        "policy": ("policy", write_plain),
        "limit": ("limit", write_weight("g")),
        "volatility_percent": ("daily volatility", write_percent),
    }
    yield from changed_fields(told, [f"hedge book of {told.subject}: "], written)


def tell_contract(told: Told) -> Iterator[Sentence]:
    names = ("venue", "venue_symbol", "lot", "fineness", "step", "price_weight", "currency", "tick")
    dates = ("expires_on", "hold_until", "mode")
    begin: Sentence = [f"contract {told.subject}: "]
    yield from changed_fields(
        told, begin, {name: (name.replace("_", " "), write_plain) for name in (*names, *dates)}
    )
    if told.before:
        yield from changed_flags(
            told, begin, {"active": ("used for new covers", "no longer used for new covers")}
        )


def tell_book_rule(told: Told) -> Iterator[Sentence]:
    metal, _, name = told.subject.partition(" ")
    if not told.after:
        yield [f"hedge book of {metal}: rule {name} deleted"]
        return
    names = ("kind", "threshold", "contracts", "side", "mode")
    yield from changed_fields(
        told, [f"hedge book of {metal}, rule {name}: "], {each: (each, write_plain) for each in names}
    )


def tell_plan(told: Told) -> Iterator[Sentence]:
    planned = [
        f"{each['side']} {write_number(each['quantity'])} {each['contract']}" for each in told.after["covers"]
    ]
    rule = told.after["rule"]
    yield [f"hedge book of {told.subject}: rule {rule} applied: {', '.join(planned) or 'nothing to cover'}"]


def tell_cover(what: str) -> Callable[[Told], Iterator[Sentence]]:
    def told_cover(told: Told) -> Iterator[Sentence]:
        after = told.after
        deals = [
            f"{_part(each, after)} at {write_number(each['price'])} {each['currency']}, {each['reference']}"
            for each in after["deals"]
        ]
        reason = f": {after['words']}" if after.get("words") else ""
        yield [
            f"cover {what}: {after['side']} {write_number(after['quantity'])} {after['contract']}",
            *deals,
            reason,
            _again(told),
        ]

    return told_cover


def _part(deal: State, cover: State) -> str:
    """Of a deal of less than the whole cover, how much it was."""
    whole = deal["quantity"] == cover["quantity"]
    return "" if whole else f", {write_number(deal['quantity'])} of it"


def tell_currency_deal(told: Told) -> Iterator[Sentence]:
    after = told.after
    dealt = f"{after['side']} {write_number(after['dollars'])} at {write_number(after['rate'])}"
    yield [f"dollars for the {after['metal']} book: {dealt}, {after['reference']}", _again(told)]


def _again(told: Told) -> str:
    """Of a call that somebody repeated."""
    return "; nothing new: it was recorded before" if told.before == told.after else ""


def tell_statement(told: Told) -> Iterator[Sentence]:
    after = told.after
    counts = [f"{after[name]} {name.replace('_', ' ')}" for name in _STATEMENT]
    yield [f"statement of {after['venue']} for {after['day']}: {', '.join(counts)}"]


_STATEMENT = ("matched", "missing", "extra", "different", "bad_lines")
