"""The dialog of the price guard: what a change would do to prices, and the loss to type before it is done."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from bullion.desk.desk import View
from bullion.desk.price_confirmation import PricesUnconfirmed
from bullion.desk.price_guard import Problem

from .forms import Dialog, Field, FormErrors, Hidden
from .html import Child, Html, el
from .widgets.formatting import grouped, is_zero, remove_grouping, rupees, trim_zeros

_ROWS_MAX = 12
_CONFIRM = Hidden("confirm", "")
"""The fingerprint of what was shown."""
_LOSS = Hidden("loss", "")
"""The loss that was shown."""
_TYPED = "typed_loss"
_OWN = (_CONFIRM.name, _LOSS.name, _TYPED, "csrf")
_TITLES = {
    Problem.CROSSED: "Clients could sell to you for more than they pay you",
    Problem.LOSING: "Clients would trade at a price that loses you money",
    Problem.MOVE: "This moves prices further than your limit",
    Problem.WIDE: "The ask of this rate is far above its bid",
    Problem.UNPROTECTED: "Orders at crossed prices would be accepted",
    Problem.TOLERANCE: "This tolerance is above your limit for prices",
    Problem.LIMIT: "Larger slips would move prices without a question",
}
"""The worst first."""


def confirmation(form: Mapping[str, str]) -> str | None:
    """The fingerprint that a form confirms, if its sender typed the loss that was shown."""
    loss = form.get(_LOSS.name, "")
    if loss and _plain(form.get(_TYPED, "")) != _plain(loss):
        raise FormErrors({_TYPED: f"Type the loss that is shown: {grouped(_plain(loss))}."})
    return form.get(_CONFIRM.name) or None


def price_question(refused: PricesUnconfirmed, form: Mapping[str, str]) -> Dialog:
    """Asks for the second word. It sends what was typed before, unchanged."""
    rows: Sequence[View] = [row for row in refused.fields["preview"] if row["problems"]]
    found = {problem for row in rows for problem in row["problems"]}
    worst = max(rows, key=_severity)
    loss = "" if is_zero(worst["loss"]) else worst["loss"]
    sent = {name: value for name, value in form.items() if name not in _OWN}
    fields: list[Field] = [Hidden(name, "") for name in sent]
    fields += [_CONFIRM, _LOSS]
    if loss:
        label = f"To do it all the same, type the loss you see: {grouped(_plain(loss))}"
        fields.append(Field(_TYPED, label, "in rupees", required=True))
    return Dialog(
        title=next(title for problem, title in _TITLES.items() if problem in found),
        text=[
            _verdict(worst, loss),
            "Nothing was changed yet. The audit trail keeps your name and what you saw.",
        ],
        confirm=f"Do it and lose {_loss_text(worst)}" if loss else "Yes, do it",
        danger=True,
        wide=True,
        fields=fields,
        values={**sent, _CONFIRM.name: refused.fields["fingerprint"], _LOSS.name: loss},
        details=price_table(rows, refused.fields.get("preview_left_out", 0)),
        previews=False,
        has_back=True,
    )


def _plain(text: str) -> str:
    """A loss as somebody may type it."""
    return trim_zeros(remove_grouping(text.strip().removeprefix("₹").strip()))


def _severity(row: View) -> tuple[bool, Decimal]:
    at = Decimal(row["new"] or row["old"] or 1)
    return Problem.CROSSED in row["problems"], Decimal(row["loss"]) / max(at, Decimal("0.01"))


def _loss_text(row: View) -> str:
    return f"{rupees(row['loss'])} per {row['unit']}"


def _verdict(row: View, loss: str) -> Child:
    if Problem.TOLERANCE in row["problems"]:
        amount = f": by up to {_loss_text(row)} of {row['symbol']}" if row["unit"] else ""
        return f"Orders would be accepted although the price has moved{amount}."
    if Problem.LIMIT in row["problems"]:
        amount = f": a slip of up to {_loss_text(row)} of {row['symbol']}" if row["unit"] else ""
        return f"Changes within the new limit are made without a question{amount}."
    if Problem.UNPROTECTED in row["problems"] and not loss:
        return "No price is crossed now. When one is, clients could buy and sell at once with a profit."
    if not loss:
        return "You lose nothing by it, but a digit may be wrong."
    lost = el("b", _loss_text(row), class_="loss")
    who = f"clients of {row['group']} trade" if row.get("account") is None else f"{row['account']} trades"
    return ["You would lose ", lost, f" that {who} in {row['symbol']}."]


def price_table(rows: Sequence[View], left_out: int = 0) -> Html:
    """What clients pay before and after a change."""
    more = len(rows) - _ROWS_MAX + left_out
    return el(
        "div",
        el(
            "table",
            el("thead", el("tr", [el("th", text, scope="col", class_=css) for text, css in _HEAD])),
            el("tbody", [_row(each) for each in rows[:_ROWS_MAX]]),
        ),
        el("p", f"And {more} more prices.", class_="hint") if more > 0 else None,
        class_="price-guard",
        role="region",
        aria_label="Prices that the change would move",
        tabindex="0",
    )


def _row(row: View) -> Html:
    what = " ".join(filter(None, (row["symbol"], _SIDES.get(row["side"]))))
    whom = f"{row['account']} in {row['group']}" if row.get("account") else row["group"]
    where = [f"for {whom}"] if whom else []
    where += [f"per {row['unit']}"] if row["unit"] else []
    where += [f"from {row['from']}"] if row["from"] else []
    move = "–" if row["move_percent"] is None else f"{_two_places(row['move_percent'])} %"
    spread = "–"
    if row["spread_after"] is not None:
        before = "" if row["spread_before"] is None else f"{grouped(row['spread_before'])} → "
        spread = f"{before}{grouped(row['spread_after'])}"
    return el(
        "tr",
        el("td", el("b", what), el("small", ", ".join(where))),
        el("td", f"{_price(row['old'])} → {_price(row['new'])}", class_="number"),
        el("td", move, class_="number"),
        el("td", spread, class_="number"),
        el("td", [el("span", _WRONG[Problem(each)], class_="wrong") for each in row["problems"]]),
    )


_HEAD = (
    ("Price", None),
    ("Old → new, ₹", "number"),
    ("Move", "number"),
    ("Between buy and sell, ₹", "number"),
    ("What is wrong", None),
)
_SIDES = {"buy": "bought by clients", "sell": "sold by clients"}
_WRONG = {
    Problem.CROSSED: "crossed",
    Problem.LOSING: "loses money",
    Problem.MOVE: "a large move",
    Problem.WIDE: "a wide spread",
    Problem.TOLERANCE: "a large tolerance",
    Problem.LIMIT: "a wider limit",
    Problem.UNPROTECTED: "crossed prices traded",
}


def _price(text: str | None) -> str:
    return "–" if text is None else grouped(text)


def _two_places(percent: str) -> str:
    whole, _, part = percent.partition(".")
    return grouped(f"{whole}.{part[:2]}")
