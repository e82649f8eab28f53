"""The entries of the audit trail as sentences, such as "retail: buy premium of SILVER ₹150 → ₹120 per 1 kg".

One place for the console, the command line and the HTTP interface. The parts of a sentence that name a thing
are references, which the console shows as links. What an old or a newer version wrote may lack fields or have
others: what cannot be put into words is told by the action's own text.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from bullion.metals.grouping import grouped

from .desk import CONFIRMED, View
from .registry import audit_text_of

State = Mapping[str, Any]
NOTHING = "none"
_CONFIRMED_SHOWN = 3


class Ref(NamedTuple):
    """A part of a sentence that names a thing."""

    kind: str
    """One of `KINDS`."""
    id: str
    text: str


KINDS = ("account", "group", "symbol", "rate", "duty", "order", "key", "user", "switches", "venue", "entry")
Sentence = list[str | Ref]


class Units(NamedTuple):
    """Of a symbol, as it is now: an entry about a group does not contain them."""

    price: str
    """The weight that prices are for, such as `10 g`."""
    weight: str
    """The unit of weights, such as `g`."""


class Told(NamedTuple):
    """An entry, as the functions below get it."""

    subject: str
    before: State
    """Empty if there was nothing."""
    after: State
    units: Mapping[str, Units]
    """By symbol."""


def sentences(entry: View, units: Mapping[str, Units]) -> list[Sentence]:
    """What an entry of the trail says. `entry` is as the desk's list of the trail shows it."""
    before, after = entry["before"] or {}, dict(entry["after"] or {})
    confirmed = after.pop(CONFIRMED, None)
    told = Told(entry["subject"], before, after, units)
    try:
        found = list(SENTENCES[entry["action"]](told)) if entry["action"] in SENTENCES else []
    except (KeyError, TypeError, AttributeError, ValueError):
        found = []  # Another version wrote it with other fields.
    if not found:
        nothing = ", nothing changed" if before == after else ""
        found = [[f"{audit_text_of(entry['action'])}: {entry['subject']}{nothing}"]]
    if "unreadable" in before:
        found.append(["it could not be read before"])
    return found if confirmed is None else [*found, [_confirmed(confirmed)]]


def text_of(found: Iterable[Sentence]) -> str:
    """As plain text."""
    return "; ".join("".join(part.text if isinstance(part, Ref) else part for part in each) for each in found)


# --- Values -----------------------------------------------------------------------------------------------


def _number(plain: Any) -> str:
    """Grouped, without trailing zeros: 150480.500000 is 1,50,480.5."""
    text = str(plain)
    return grouped(text.rstrip("0").rstrip(".") if "." in text else text)


def _rupees(plain: Any) -> str:
    """₹150, −₹1,20,000.50"""
    text = str(plain)
    text = text.removesuffix(".00")
    number = grouped(text.removeprefix("-"))
    return f"\N{MINUS SIGN}₹{number}" if text.startswith("-") else f"₹{number}"


def _percent(plain: Any) -> str:
    return f"{_number(plain)} %"


def _seconds(value: Any) -> str:
    return f"{value} s"


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or NOTHING
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


Write = Callable[[Any], str]


def _weight(unit: str) -> Write:
    return lambda value: f"{_number(value)} {unit}".strip()


def _changed(label: str, was: Any, now: Any, write: Write, end: str = "") -> str:
    """`label old → new`; of something new or removed, one of the two."""
    if was is None:
        return f"{label} {write(now)}{end}"
    if now is None:
        return f"{label} {write(was)}{end} → {NOTHING}"
    return f"{label} {write(was)} → {write(now)}{end}"


def _fields(told: Told, begin: Sentence, written: Mapping[str, tuple[str, Write]]) -> Iterator[Sentence]:
    """One sentence for each of these fields that differs."""
    for name, (label, write) in written.items():
        was, now = _at(told.before, name), _at(told.after, name)
        if was != now:
            yield [*begin, _changed(label, was, now, write)]


def _flags(told: Told, begin: Sentence, words: Mapping[str, tuple[str, str]]) -> Iterator[Sentence]:
    """One sentence for each switch that differs: the first words for on, the others for off."""
    for name, (on, off) in words.items():
        was, now = told.before.get(name), told.after.get(name)
        if now is not None and was != now:
            yield [*begin, on if now else off]


def _at(state: State, path: str) -> Any:
    value: Any = state
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


# --- Market -----------------------------------------------------------------------------------------------


def _group(told: Told) -> Iterator[Sentence]:
    ref = Ref("group", told.subject, told.subject)
    if not told.before:
        yield ["group ", ref, " created"]
    yield from _flags(
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
                _changed(f"{label}{of}", (was or {}).get(name), (now or {}).get(name), _rupees, end),
            ]
    for name, label in _SIZES.items():
        if (was or {}).get(name) != (now or {}).get(name):
            write = _weight(units.weight)
            yield [ref, ": ", _changed(f"{label}{of}", (was or {}).get(name), (now or {}).get(name), write)]


def _symbol(told: Told) -> Iterator[Sentence]:
    ref = Ref("symbol", told.subject, told.subject)
    unit = str(told.after.get("unit") or told.before.get("unit") or "")
    if not told.before:
        yield ["symbol ", ref, " created"]
    shown = told if told.before else told._replace(before={"trading": True, "frozen": False})
    yield from _flags(shown, [ref, " "], {"frozen": ("frozen", "unfrozen")})
    begin: Sentence = [ref, ": "]
    yield from _flags(shown, begin, {"trading": ("trading switched on", "trading switched off")})
    per = f" per {_number(_at(told.after, 'quoted_weight') or '')} {unit}".rstrip()
    yield from _fields(told, begin, {"quoted_weight": ("prices are for", _weight(unit))})
    yield from _pricing(told, begin, per)
    yield from _fields(
        told,
        begin,
        {
            "sides": ("clients may", _plain),
            "minimum": ("smallest order", _weight(unit)),
            "maximum": ("largest order", _weight(unit)),
            "step": ("step of orders", _weight(unit)),
            "stock": ("stock", _weight(unit)),
            "fineness": ("fineness", _number),
            "rate_age_s_max": ("oldest rate", _seconds),
            "freeze_after_s": ("freeze when the rate stands still for", _seconds),
        },
    )


def _pricing(told: Told, begin: Sentence, per: str) -> Iterator[Sentence]:
    was, now = told.before.get("pricing") or {}, told.after.get("pricing") or {}
    if was.get("kind") != now.get("kind"):
        yield [*begin, _changed("pricing", was.get("kind"), now.get("kind"), _plain)]
        was = {}

    def rupees(value: Any) -> str:
        return f"{_rupees(value)}{per}"

    written: dict[str, tuple[str, Write]] = {
        "instrument": ("priced by", _plain),
        "buy": ("fixed buy price", rupees),
        "sell": ("fixed sell price", rupees),
        "spot": ("spot rate", _plain),
        "currency": ("currency rate", _plain),
        "premium_usd": ("premium in USD", _number),
        "interbank": ("interbank", _number),
        "conversion": ("conversion", _number),
        "duty": ("duty table", _plain),
        "margin": ("margin", rupees),
    }
    yield from _fields(Told("", was, now, {}), begin, written)


def _rate(told: Told) -> Iterator[Sentence]:
    now = told.after
    ref = Ref("rate", told.subject, told.subject)
    made = f" set to {_number(now['bid'])} / {_number(now['ask'])}"
    was = (
        f" (before {_number(told.before['bid'])} / {_number(told.before['ask'])})"
        if "bid" in told.before
        else ""
    )
    if was and all(told.before[name] == now[name] for name in ("bid", "ask", "at")):
        yield ["rate of ", ref, " not set: there was a newer one"]
    else:
        yield ["rate of ", ref, made, was, _pinned(now)]


def _pinned(rate: Mapping[str, Any]) -> str:
    until = rate.get("pinned_until")
    return "" if until is None else f", pinned until {until}"


def _unpin(told: Told) -> Iterator[Sentence]:
    yield ["pin of the rate of ", Ref("rate", told.subject, told.subject), " ended"]


def _preference(told: Told) -> Iterator[Sentence]:
    ref, source = Ref("rate", told.subject, told.subject), told.after["preferred"]
    if source is None:
        yield ["source of ", ref, " left to the settings"]
    else:
        yield ["source ", source, " preferred for ", ref]


def _release(told: Told) -> Iterator[Sentence]:
    now = told.after
    prices = f"{_number(now['bid'])} / {_number(now['ask'])}"
    yield [
        f"held quote {prices} of ",
        Ref("rate", told.subject, told.subject),
        f" from {now['source']} released",
    ]


def _feed_guard(told: Told) -> Iterator[Sentence]:
    ref = Ref("rate", told.subject, told.subject)
    changed = [
        f"{name} {told.before.get(name)} → {value}"
        for name, value in told.after.items()
        if told.before.get(name) != value
    ]
    yield ["guard of ", ref, ": ", ", ".join(changed) or "nothing changed"]


def _line(done: str) -> Callable[[Told], Iterator[Sentence]]:
    def told_by(told: Told) -> Iterator[Sentence]:
        yield [f"line {told.subject} {done}: {told.after['reason']}"]

    return told_by


def _duty(told: Told) -> Iterator[Sentence]:
    ref = Ref("duty", told.subject, told.subject)
    was, now = (
        {row["from"]: row["rupees"] for row in each.get("duties") or ()} for each in (told.before, told.after)
    )
    for day in sorted({*was, *now}):
        if was.get(day) == now.get(day):
            continue
        if day not in now:
            yield ["duty ", ref, f": {_rupees(was[day])} from {day} removed"]
        elif day in was:
            yield ["duty ", ref, f" from {day}: {_rupees(was[day])} → {_rupees(now[day])}"]
        else:
            yield ["duty ", ref, f": {_rupees(now[day])} from {day} on"]


_BUDGETS = {
    "reads_per_minute": "reads per minute",
    "orders_per_minute": "orders per minute",
    "orders_per_10_seconds": "orders per 10 seconds",
    "account_orders_per_minute": "orders per minute of an account",
    "failed_auth_per_minute": "failed log-ins per minute",
}


def _switches(told: Told) -> Iterator[Sentence]:
    yield from _flags(
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
        yield [ref, _changed("", was, now, _percent)]
    yield from _fields(told, [], {"price_move_percent_max": ("largest price move without asking", _percent)})
    yield from _fields(told, [], {f"budgets.{name}": (label, _number) for name, label in _BUDGETS.items()})
    if told.before.get("trading_hours") != told.after.get("trading_hours"):
        hours = told.after.get("trading_hours")
        yield [Ref("switches", "hours", "trading hours"), " changed" if hours else " removed: always open"]


def _venue(told: Told) -> Iterator[Sentence]:
    begin: Sentence = [Ref("venue", "", "simulated venue"), ": "]
    delay = ("answers after", lambda value: f"{value} ms")
    yield from _fields(
        told,
        begin,
        {
            "mode": ("mode", _plain),
            "delay_ms": delay,
            "fill_percent": ("fills", _percent),
            "unasked": ("reports by itself", _plain),
        },
    )
    was, now = told.before.get("instruments") or {}, told.after.get("instruments") or {}
    for name in sorted({*was, *now}):
        if was.get(name) != now.get(name):
            yield [*begin, _changed(name, was.get(name), now.get(name), _plain)]


def _hedge_book(told: Told) -> Iterator[Sentence]:
    written = {
        "policy": ("policy", _plain),
        "limit": ("limit", _weight("g")),
        "volatility_percent": ("daily volatility", _percent),
    }
    yield from _fields(told, [f"hedge book of {told.subject}: "], written)


def _contract(told: Told) -> Iterator[Sentence]:
    names = ("venue", "venue_symbol", "lot", "fineness", "step", "price_weight", "currency", "tick")
    dates = ("expires_on", "hold_until", "mode")
    begin: Sentence = [f"contract {told.subject}: "]
    yield from _fields(told, begin, {name: (name.replace("_", " "), _plain) for name in (*names, *dates)})
    if told.before:
        yield from _flags(told, begin, {"active": ("used for new covers", "no longer used for new covers")})


def _book_rule(told: Told) -> Iterator[Sentence]:
    metal, _, name = told.subject.partition(" ")
    if not told.after:
        yield [f"hedge book of {metal}: rule {name} deleted"]
        return
    names = ("kind", "threshold", "contracts", "side", "mode")
    yield from _fields(
        told, [f"hedge book of {metal}, rule {name}: "], {each: (each, _plain) for each in names}
    )


def _plan(told: Told) -> Iterator[Sentence]:
    planned = [
        f"{each['side']} {_number(each['quantity'])} {each['contract']}" for each in told.after["covers"]
    ]
    rule = told.after["rule"]
    yield [f"hedge book of {told.subject}: rule {rule} applied: {', '.join(planned) or 'nothing to cover'}"]


def _cover(what: str) -> Callable[[Told], Iterator[Sentence]]:
    def told_cover(told: Told) -> Iterator[Sentence]:
        after = told.after
        deals = [
            f" at {_number(each['price'])} {each['currency']}, {each['reference']}" for each in after["deals"]
        ]
        reason = f": {after['words']}" if after.get("words") else ""
        yield [
            f"cover {what}: {after['side']} {_number(after['quantity'])} {after['contract']}",
            *deals,
            reason,
        ]

    return told_cover


def _currency_deal(told: Told) -> Iterator[Sentence]:
    after = told.after
    dealt = f"{after['side']} {_number(after['dollars'])} at {_number(after['rate'])}"
    yield [f"dollars for the {after['metal']} book: {dealt}, {after['reference']}"]


def _statement(told: Told) -> Iterator[Sentence]:
    after = told.after
    counts = [f"{after[name]} {name.replace('_', ' ')}" for name in _STATEMENT]
    yield [f"statement of {after['venue']} for {after['day']}: {', '.join(counts)}"]


_STATEMENT = ("matched", "missing", "extra", "different", "bad_lines")


def _broker(told: Told) -> Iterator[Sentence]:
    if not told.before:
        yield [f"broker {told.subject} created: {told.after['name']}"]
    else:
        yield from _fields(told, ["broker: "], {"name": ("name", _plain), "hosts": ("hosts", _plain)})


# --- Clients ----------------------------------------------------------------------------------------------


def _account(told: Told) -> Iterator[Sentence]:
    ref = Ref("account", told.subject, told.subject)
    begin: Sentence = [ref, ": "]
    if not told.before:
        firm = told.after.get("firm_name")
        yield ["account ", ref, f" created in group {told.after['group']}", f", {firm}" if firm else ""]
        usual = {"active": True, "api_access": False, "production_trading": False, "scenarios": False}
        shown = told._replace(before={**usual, "group": told.after["group"], "firm_name": firm})
    else:
        shown = told
    yield from _flags(
        shown,
        begin,
        {
            "active": ("activated", "deactivated"),
            "api_access": ("API access on", "API access off"),
            "production_trading": ("production trading on", "production trading off"),
            "scenarios": ("test scenarios on", "test scenarios off"),
        },
    )
    yield from _fields(
        shown,
        begin,
        {
            "group": ("group", _plain),
            "firm_name": ("firm", _plain),
            "allocation.gold": ("gold allocation", _weight("g")),
            "allocation.silver": ("silver allocation", _weight("kg")),
        },
    )


def _reset(told: Told) -> Iterator[Sentence]:
    orders = told.before.get("orders", 0)
    yield [
        Ref("account", told.subject, told.subject),
        f": test book reset, {_number(orders)} test orders archived",
    ]


def _key_ref(key: State) -> Ref:
    return Ref("key", f"{key['login_id']} {key['key_id']}", key["key_id"])


def _issue(told: Told) -> Iterator[Sentence]:
    key = told.after
    login = Ref("account", key["login_id"], key["login_id"])
    scopes = _plain(key["scopes"])
    yield [login, ": API key ", _key_ref(key), f" issued for {key['environment']}, “{key['name']}”: {scopes}"]


def _rotate(told: Told) -> Iterator[Sentence]:
    old, new = told.after["replaced"], told.after["successor"]
    login = Ref("account", old["login_id"], old["login_id"])
    yield [login, ": API key ", _key_ref(old), " replaced by ", _key_ref(new)]


def _revoke(told: Told) -> Iterator[Sentence]:
    key = told.after
    login = Ref("account", key["login_id"], key["login_id"])
    again = " (it was revoked before)" if told.before.get("revoked_at") else ""
    yield [login, ": API key ", _key_ref(key), f" revoked{again}"]


# --- Orders -----------------------------------------------------------------------------------------------


def _order_ref(order: State) -> Ref:
    named = f"deal {order['deal_no']}" if order.get("deal_no") else order.get("deal_label") or "order"
    size = f"{_number(order['quantity'])} {order.get('unit') or ''}".strip()
    text = f"{named} of {order['login_id']}, {order['trade_type']} {size} {order['symbol_code']}"
    return Ref("order", str(order.get("id") or order.get("order_id")), text)


def _order(what: str) -> Callable[[Told], Iterator[Sentence]]:
    def told_order(told: Told) -> Iterator[Sentence]:
        reason = told.after.get("words")
        yield [_order_ref(told.after), f" {what}", f": {reason}" if reason else ""]

    return told_order


def _complete(told: Told) -> Iterator[Sentence]:
    price, result = told.after["close_price"], told.after["realized_pnl"]
    yield [_order_ref(told.after), f" closed at {_rupees(price)}, result of the client {_rupees(result)}"]


def _place(told: Told) -> Iterator[Sentence]:
    order = told.after
    again = "; nothing new: the key was used before" if order.get("replayed") else ""
    yield [_order_ref(order), f" placed by {order['source']} at {_rupees(order['price'])}{again}"]


def _break(told: Told) -> Iterator[Sentence]:
    found = told.after
    what: list[str | Ref] = ["execution ", str(found.get("execution_id") or told.subject)]
    if found.get("status"):
        what = [_order_ref(found)]
    yield ["break of ", *what, f" settled: {found['resolution']}"]


# --- Users and the deployment -----------------------------------------------------------------------------


def _user(told: Told) -> Ref:
    token_id = str(told.after.get("token_id") or told.before.get("token_id") or told.subject)
    name = told.after.get("name") or told.before.get("name")
    return Ref("user", token_id, str(name or token_id))


def _new_user(told: Told) -> Iterator[Sentence]:
    yield ["user ", _user(told), f" created as {told.after['role']}"]


def _changed_user(told: Told) -> Iterator[Sentence]:
    begin: Sentence = ["user ", _user(told), ": "]
    yield from _fields(told, begin, {"name": ("name", _plain), "role": ("role", _plain)})


def _of_user(what: str) -> Callable[[Told], Iterator[Sentence]]:
    def told_user(told: Told) -> Iterator[Sentence]:
        yield ["user ", _user(told), f": {what}"]

    return told_user


def _ended_sessions(told: Told) -> Iterator[Sentence]:
    yield ["user ", _user(told), f": {told.before.get('sessions', 0)} sessions of the console ended"]


def _factor_rule(told: Told) -> Iterator[Sentence]:
    who = {"off": "nobody", "admins": "admins", "all": "everybody"}
    yield [f"a second factor is needed by {who[told.after['required']]}"]


def _archive(what: str) -> Callable[[Told], Iterator[Sentence]]:
    def told_archive(told: Told) -> Iterator[Sentence]:
        count = told.after.get("orders")
        number = "" if count is None else f" {_number(count)}"
        yield [what.format(number=number), f" from before {told.after['before']}"]

    return told_archive


def _secret(told: Told) -> Iterator[Sentence]:
    yield [f"the deployment's secret exchanged; {_number(told.after['entries'])} entries sealed anew"]


def _undo(told: Told) -> Iterator[Sentence]:
    """The states are those of the thing that was taken back, which its fields tell."""
    number = told.subject.rpartition(" ")[2]
    for field, (name, describe) in _UNDONE.items():
        if field in told.after:
            subject = str(told.after.get(name, ""))
            for each in describe(told._replace(subject=subject)):
                yield ["taken back ", Ref("entry", number, f"(entry {number})"), ": ", *each]
            return


_UNDONE: dict[str, tuple[str, Callable[[Told], Iterator[Sentence]]]] = {
    "terms": ("code", _group),
    "pricing": ("code", _symbol),
    "bid": ("instrument", _rate),
    "duties": ("name", _duty),
    "halted": ("", _switches),
}


def _confirmed(confirmed: State) -> str:
    """What somebody saw and confirmed before the change was made."""
    rows = confirmed.get("prices") or []
    told = [_problem(row) for row in rows[:_CONFIRMED_SHOWN]]
    more = len(rows) - len(told) + int(confirmed.get("prices_left_out") or 0)
    return "after confirming: " + ", ".join([*told, *([f"and {more} more"] if more else [])])


def _problem(row: State) -> str:
    problems, per = row["problems"], f" per {row['unit']}" if row["unit"] else ""
    where = f"{row['symbol']} in {row['group']}" if row["group"] else str(row["symbol"])
    if "crossed" in problems:
        return f"{where} crossed by {_rupees(row['loss'])}{per}"
    if "losing" in problems:
        return f"{where} loses {_rupees(row['loss'])}{per}"
    if "tolerance" in problems:
        return "a tolerance above the limit of price moves"
    if "wide" in problems:
        return f"ask of {where} far above its bid"
    side = f" {row['side']}" if row["side"] else ""
    old, new = (NOTHING if row[name] is None else _rupees(row[name]) for name in ("old", "new"))
    return f"{where}{side} {old} → {new}{per}"


SENTENCES: dict[str, Callable[[Told], Iterator[Sentence]]] = {
    "put_group": _group,
    "patch_group": _group,
    "step_margin": _group,
    "put_symbol": _symbol,
    "patch_symbol": _symbol,
    "put_rate": _rate,
    "unpin_rate": _unpin,
    "prefer_source": _preference,
    "release_quote": _release,
    "patch_feed_guard": _feed_guard,
    "connect_line": _line("connected"),
    "disconnect_line": _line("disconnected"),
    "reset_line": _line("logs on with new numbers"),
    "put_duty": _duty,
    "patch_switches": _switches,
    "patch_hedge": _venue,
    "patch_book": _hedge_book,
    "put_rule": _book_rule,
    "delete_rule": _book_rule,
    "plan_covers": _plan,
    "put_contract": _contract,
    "create_cover": _cover("made"),
    "send_cover": _cover("sent"),
    "drop_cover": _cover("dropped"),
    "fill_cover": _cover("dealt"),
    "settle_cover": _cover("settled by hand"),
    "create_currency_deal": _currency_deal,
    "compare_day": _statement,
    "put_broker": _broker,
    "undo_change": _undo,
    "create_account": _account,
    "patch_account": _account,
    "reset_test_book": _reset,
    "issue_key": _issue,
    "rotate_key": _rotate,
    "revoke_key": _revoke,
    "place_order": _place,
    "close_order": _order("is being closed"),
    "complete_order": _complete,
    "delete_order": _order("deleted"),
    "confirm_order": _order("confirmed"),
    "refuse_order": _order("refused"),
    "cover_order": _order("rest decided"),
    "resolve_break": _break,
    "create_token": _new_user,
    "patch_token": _changed_user,
    "end_token_sessions": _ended_sessions,
    "delete_token": _of_user("deleted"),
    "put_factor_rule": _factor_rule,
    "reset_second_factor": _of_user("second factor reset"),
    "enrol_second_factor": _of_user("second factor set up"),
    "remove_second_factor": _of_user("second factor turned off"),
    "use_recovery_code": _of_user("logged in with a recovery code"),
    "archive_old_orders": _archive("orders{number} archived"),
    "archive_orders": _archive("archiving of test orders started"),
    "archived_orders": _archive("{number} test orders archived"),
    "archive_traces": _archive("decisions moved into a file"),
    "exchange_secret": _secret,
}
"""By the name of the entry."""
