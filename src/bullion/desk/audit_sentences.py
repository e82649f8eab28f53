"""The entries of the audit trail as sentences, such as "retail: buy premium of SILVER ₹150 → ₹120 per 1 kg".

One place for the console, the command line and the HTTP interface. The parts of a sentence that name a thing
are references, which the console shows as links. What an old or a newer version wrote may lack fields or have
others: what cannot be put into words is told by the action's own text.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from .audit_wording import hedging, orders, people, prices
from .audit_wording.parts import NOTHING, Ref, Sentence, State, Told, Units, write_rupees
from .desk import CONFIRMED, View
from .registry import audit_text_of

_CONFIRMED_SHOWN = 3


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
        return f"{where} crossed by {write_rupees(row['loss'])}{per}"
    if "losing" in problems:
        return f"{where} loses {write_rupees(row['loss'])}{per}"
    if "tolerance" in problems:
        return "a tolerance above the limit of price moves"
    if "limit" in problems:
        largest = f": {where} by up to {write_rupees(row['new'])}{per}" if row["symbol"] else ""
        return f"larger price moves without asking{largest}"
    if "unprotected" in problems:
        crossed = f": {where} is crossed by {write_rupees(row['loss'])}{per}" if row["symbol"] else ""
        return f"orders at crossed prices are accepted{crossed}"
    if "wide" in problems:
        return f"ask of {where} far above its bid"
    side = f" {row['side']}" if row["side"] else ""
    old, new = (NOTHING if row[name] is None else write_rupees(row[name]) for name in ("old", "new"))
    return f"{where}{side} {old} → {new}{per}"


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
    "terms": ("code", prices.tell_group),
    "pricing": ("code", prices.tell_symbol),
    "bid": ("instrument", prices.tell_rate),
    "duties": ("name", prices.tell_duty),
    "halted": ("", prices.tell_switches),
    "allocation": ("login_id", people.tell_account),
}

SENTENCES: dict[str, Callable[[Told], Iterator[Sentence]]] = {
    "put_group": prices.tell_group,
    "patch_group": prices.tell_group,
    "step_margin": prices.tell_group,
    "put_symbol": prices.tell_symbol,
    "patch_symbol": prices.tell_symbol,
    "put_rate": prices.tell_rate,
    "unpin_rate": prices.tell_unpin,
    "prefer_source": prices.tell_preference,
    "release_quote": prices.tell_release,
    "patch_feed_guard": prices.tell_feed_guard,
    "connect_line": hedging.tell_line("connected"),
    "disconnect_line": hedging.tell_line("disconnected"),
    "reset_line": hedging.tell_line("logs on with new numbers"),
    "put_duty": prices.tell_duty,
    "patch_switches": prices.tell_switches,
    "patch_hedge": hedging.tell_venue,
    "patch_book": hedging.tell_hedge_book,
    "put_rule": hedging.tell_book_rule,
    "delete_rule": hedging.tell_book_rule,
    "plan_covers": hedging.tell_plan,
    "put_contract": hedging.tell_contract,
    "create_cover": hedging.tell_cover("made"),
    "send_cover": hedging.tell_cover("sent"),
    "drop_cover": hedging.tell_cover("dropped"),
    "fill_cover": hedging.tell_cover("dealt"),
    "settle_cover": hedging.tell_cover("settled by hand"),
    "create_currency_deal": hedging.tell_currency_deal,
    "compare_day": hedging.tell_statement,
    "put_broker": people.tell_broker,
    "move_broker": people.tell_move("closed here, and moved to the store at"),
    "cancel_move": people.tell_move("open here again: it was not moved to the store at"),
    "undo_change": _undo,
    "create_account": people.tell_account,
    "patch_account": people.tell_account,
    "reset_test_book": people.tell_reset,
    "issue_key": people.tell_issue,
    "rotate_key": people.tell_rotate,
    "revoke_key": people.tell_revoke,
    "create_webhook": people.tell_webhook("set up"),
    "enable_webhook": people.tell_webhook("switched on"),
    "disable_webhook": people.tell_webhook("switched off"),
    "rotate_webhook": people.tell_webhook("has a new secret"),
    "delete_webhook": people.tell_webhook("deleted"),
    "replay_webhook": people.tell_webhook("gets events again"),
    "place_order": orders.tell_place,
    "close_order": orders.tell_order("is being closed"),
    "complete_order": orders.tell_complete,
    "delete_order": orders.tell_order("deleted"),
    "confirm_order": orders.tell_confirmed,
    "refuse_order": orders.tell_order("refused"),
    "cover_order": orders.tell_order("rest decided"),
    "resolve_break": orders.tell_break,
    "create_token": people.tell_new_user,
    "patch_token": people.tell_changed_user,
    "end_token_sessions": people.tell_ended_sessions,
    "delete_token": people.tell_about_user("deleted"),
    "put_factor_rule": people.tell_factor_rule,
    "reset_second_factor": people.tell_about_user("second factor reset"),
    "enrol_second_factor": people.tell_about_user("second factor set up"),
    "remove_second_factor": people.tell_about_user("second factor turned off"),
    "use_recovery_code": people.tell_about_user("logged in with a recovery code"),
    "archive_old_orders": orders.tell_archive("orders{number} archived"),
    "archive_orders": orders.tell_archive("archiving of test orders started"),
    "archived_orders": orders.tell_archive("{number} test orders archived"),
    "archive_traces": orders.tell_archive("decisions moved into a file"),
    "exchange_secret": orders.tell_secret,
}
"""By the name of the entry."""
