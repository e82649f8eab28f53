"""Entries about orders, breaks, the archive and the secret of the deployment."""

from collections.abc import Callable, Iterator

from .parts import Ref, Sentence, State, Told, write_number, write_rupees


def _order_ref(order: State) -> Ref:
    named = f"deal {order['deal_no']}" if order.get("deal_no") else order.get("deal_label") or "order"
    size = f"{write_number(order['quantity'])} {order.get('unit') or ''}".strip()
    text = f"{named} of {order['login_id']}, {order['trade_type']} {size} {order['symbol_code']}"
    return Ref("order", str(order.get("id") or order.get("order_id")), text)


def tell_order(what: str) -> Callable[[Told], Iterator[Sentence]]:
    def told_order(told: Told) -> Iterator[Sentence]:
        reason = told.after.get("words")
        yield [_order_ref(told.after), f" {what}", f": {reason}" if reason else ""]

    return told_order


def tell_confirmed(told: Told) -> Iterator[Sentence]:
    left = told.after.get("left")
    if left is None:
        yield from tell_order("confirmed")(told)
    else:
        yield from tell_order(f"covered in part, {write_number(left)} {told.after['unit']} left")(told)


def tell_complete(told: Told) -> Iterator[Sentence]:
    price, result = told.after["close_price"], told.after["realized_pnl"]
    yield [
        _order_ref(told.after),
        f" closed at {write_rupees(price)}, result of the client {write_rupees(result)}",
    ]


def tell_place(told: Told) -> Iterator[Sentence]:
    order = told.after
    refused = ", and its hedge was refused" if order.get("status") == "rejected" else ""
    again = "; nothing new: the key was used before" if order.get("replayed") else ""
    placed = f" placed by {order['source']} at {write_rupees(order['price'])}"
    yield [_order_ref(order), placed, refused, again]


def tell_break(told: Told) -> Iterator[Sentence]:
    found = told.after
    what: list[str | Ref] = ["execution ", str(found.get("execution_id") or told.subject)]
    if found.get("status"):
        what = [_order_ref(found)]
    yield ["break of ", *what, f" settled: {found['resolution']}"]


def tell_archive(what: str) -> Callable[[Told], Iterator[Sentence]]:
    def told_archive(told: Told) -> Iterator[Sentence]:
        count = told.after.get("orders")
        number = "" if count is None else f" {write_number(count)}"
        yield [what.format(number=number), f" from before {told.after['before']}"]

    return told_archive


def tell_secret(told: Told) -> Iterator[Sentence]:
    yield [f"the deployment's secret exchanged; {write_number(told.after['entries'])} entries sealed anew"]
