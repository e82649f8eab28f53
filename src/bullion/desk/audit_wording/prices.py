"""Entries about what clients pay: groups, symbols, rates, duties and switches."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from .parts import (
    Ref,
    Sentence,
    State,
    Told,
    Units,
    Write,
    change_text,
    changed_fields,
    changed_flags,
    value_at,
    write_number,
    write_percent,
    write_plain,
    write_rupees,
    write_seconds,
    write_weight,
)


def tell_group(told: Told) -> Iterator[Sentence]:
    ref = Ref("group", told.subject, told.subject)
    if not told.before:
        yield ["group ", ref, " created"]
    yield from changed_flags(
        told if told.before else told._replace(before={"trading": True}),
        [ref, ": "],
        {"trading": ("trading switched on", "trading switched off")},
    )
    was, now = told.before.get("terms") or {}, told.after.get("terms") or {}
    for symbol in sorted({*was, *now}):
        units = told.units.get(symbol, Units("", ""))
        yield from _terms(ref, f" of {symbol}", was.get(symbol), now.get(symbol), units)
    default = (told.before.get("default_terms"), told.after.get("default_terms"))
    yield from _terms(ref, " of all other symbols", *default, Units("", ""))


_PREMIUMS = {"buy_premium": "buy premium", "sell_premium": "sell premium"}

_SIZES = {"minimum": "smallest order", "maximum": "largest order", "step": "step of orders"}


def _terms(ref: Ref, of: str, was: State | None, now: State | None, units: Units) -> Iterator[Sentence]:
    if was is not None and now is None:
        yield [ref, f": own terms{of} removed"]
        return
    if was is None and now is not None and not any(value is not None for value in now.values()):
        yield [ref, f": trades{of} without own terms"]
    end = f" per {units.price}" if units.price else ""
    for name, label in _PREMIUMS.items():
        if (was or {}).get(name) != (now or {}).get(name):
            yield [
                ref,
                ": ",
                change_text(f"{label}{of}", (was or {}).get(name), (now or {}).get(name), write_rupees, end),
            ]
    for name, label in _SIZES.items():
        if (was or {}).get(name) != (now or {}).get(name):
            write = write_weight(units.weight)
            yield [
                ref,
                ": ",
                change_text(f"{label}{of}", (was or {}).get(name), (now or {}).get(name), write),
            ]


def tell_symbol(told: Told) -> Iterator[Sentence]:
    ref = Ref("symbol", told.subject, told.subject)
    unit = str(told.after.get("unit") or told.before.get("unit") or "")
    if not told.before:
        yield ["symbol ", ref, " created"]
    shown = told if told.before else told._replace(before={"trading": True, "frozen": False})
    yield from changed_flags(shown, [ref, " "], {"frozen": ("frozen", "unfrozen")})
    begin: Sentence = [ref, ": "]
    yield from changed_flags(shown, begin, {"trading": ("trading switched on", "trading switched off")})
    per = f" per {write_number(value_at(told.after, 'quoted_weight') or '')} {unit}".rstrip()
    yield from changed_fields(told, begin, {"quoted_weight": ("prices are for", write_weight(unit))})
    yield from _pricing(told, begin, per)
    yield from changed_fields(
        told,
        begin,
        {
            "sides": ("clients may", write_plain),
            "minimum": ("smallest order", write_weight(unit)),
            "maximum": ("largest order", write_weight(unit)),
            "step": ("step of orders", write_weight(unit)),
            "stock": ("stock", write_weight(unit)),
            "fineness": ("fineness", write_number),
            "rate_age_s_max": ("oldest rate", write_seconds),
            "freeze_after_s": ("freeze when the rate stands still for", write_seconds),
        },
    )


def _pricing(told: Told, begin: Sentence, per: str) -> Iterator[Sentence]:
    was, now = told.before.get("pricing") or {}, told.after.get("pricing") or {}
    if was.get("kind") != now.get("kind"):
        yield [*begin, change_text("pricing", was.get("kind"), now.get("kind"), write_plain)]
        was = {}

    def per_weight(value: Any) -> str:
        return f"{write_rupees(value)}{per}"

    written: dict[str, tuple[str, Write]] = {
        "instrument": ("priced by", write_plain),
        "buy": ("fixed buy price", per_weight),
        "sell": ("fixed sell price", per_weight),
        "spot": ("spot rate", write_plain),
        "currency": ("currency rate", write_plain),
        "premium_usd": ("premium in USD", write_number),
        "interbank": ("interbank", write_number),
        "conversion": ("conversion", write_number),
        "duty": ("duty table", write_plain),
        "margin": ("margin", per_weight),
    }
    yield from changed_fields(Told("", was, now, {}), begin, written)


def tell_rate(told: Told) -> Iterator[Sentence]:
    now = told.after
    ref = Ref("rate", told.subject, told.subject)
    made = f" set to {write_number(now['bid'])} / {write_number(now['ask'])}"
    was = (
        f" (before {write_number(told.before['bid'])} / {write_number(told.before['ask'])})"
        if "bid" in told.before
        else ""
    )
    if was and told.before == now:
        yield ["rate of ", ref, " not set: there was a newer one"]
    else:
        yield ["rate of ", ref, made, was, _pinned(now)]


def _pinned(rate: Mapping[str, Any]) -> str:
    until = rate.get("pinned_until")
    return (
        ""
        if until is None
        else f", pinned until {datetime.fromisoformat(until).isoformat(timespec='seconds')}"
    )


def tell_unpin(told: Told) -> Iterator[Sentence]:
    yield ["pin of the rate of ", Ref("rate", told.subject, told.subject), " ended"]


def tell_preference(told: Told) -> Iterator[Sentence]:
    ref, source = Ref("rate", told.subject, told.subject), told.after["preferred"]
    if source is None:
        yield ["source of ", ref, " left to the settings"]
    else:
        yield ["source ", source, " preferred for ", ref]


def tell_release(told: Told) -> Iterator[Sentence]:
    now = told.after
    prices = f"{write_number(now['bid'])} / {write_number(now['ask'])}"
    yield [
        f"held quote {prices} of ",
        Ref("rate", told.subject, told.subject),
        f" from {now['source']} released",
    ]


def tell_feed_guard(told: Told) -> Iterator[Sentence]:
    ref = Ref("rate", told.subject, told.subject)
    changed = [
        f"{name} {told.before.get(name)} → {value}"
        for name, value in told.after.items()
        if told.before.get(name) != value
    ]
    yield ["guard of ", ref, ": ", ", ".join(changed) or "nothing changed"]


def tell_duty(told: Told) -> Iterator[Sentence]:
    ref = Ref("duty", told.subject, told.subject)
    was, now = (
        {row["from"]: row["rupees"] for row in each.get("duties") or ()} for each in (told.before, told.after)
    )
    for day in sorted({*was, *now}):
        if was.get(day) == now.get(day):
            continue
        if day not in now:
            yield ["duty ", ref, f": {write_rupees(was[day])} from {day} removed"]
        elif day in was:
            yield ["duty ", ref, f" from {day}: {write_rupees(was[day])} → {write_rupees(now[day])}"]
        else:
            yield ["duty ", ref, f": {write_rupees(now[day])} from {day} on"]


_BUDGETS = {
    "reads_per_minute": "reads per minute",
    "orders_per_minute": "orders per minute",
    "orders_per_10_seconds": "orders per 10 seconds",
    "account_orders_per_minute": "orders per minute of an account",
    "failed_auth_per_minute": "failed log-ins per minute",
}


def tell_switches(told: Told) -> Iterator[Sentence]:
    yield from changed_flags(
        told,
        [],
        {
            "halted": ("trading halted", "trading resumed"),
            "paused": ("production paused", "production resumed"),
            "production": ("production switched on", "production switched off"),
            "refuse_crossed": ("crossed prices are refused", "crossed prices are traded"),
        },
    )
    ref = Ref("switches", "", "price tolerance")
    was, now = told.before.get("price_tolerance_percent"), told.after.get("price_tolerance_percent")
    if was != now:
        yield [ref, change_text("", was, now, write_percent)]
    yield from changed_fields(
        told, [], {"price_move_percent_max": ("largest price move without asking", write_percent)}
    )
    yield from changed_fields(
        told, [], {f"budgets.{name}": (label, write_number) for name, label in _BUDGETS.items()}
    )
    interval_ms = told.after.get("quote_stream_interval_ms")
    if told.before.get("quote_stream_interval_ms") != interval_ms:
        yield [f"prices streamed every {interval_ms} ms" if interval_ms else "prices no longer streamed"]
    page = told.after.get("public_rates")
    if told.before.get("public_rates") != page:
        shown = f"shows the prices of {page['group']}, “{page['title']}”" if page else "hidden"
        yield [Ref("switches", "public", "public rate page"), f" {shown}"]
    if told.before.get("trading_hours") != told.after.get("trading_hours"):
        hours = told.after.get("trading_hours")
        yield [Ref("switches", "hours", "trading hours"), " changed" if hours else " removed: always open"]
