"""One search for orders, decisions, accounts and keys, by what somebody typed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bullion.accounts.account import Account
from bullion.desk.bodies import Option
from bullion.desk.desk import Desk, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.desk.unreadable import is_unreadable, view_of
from bullion.records.orders import AccountOrder, AccountTrace
from bullion.records.token import Actor
from bullion.store.records import Records

from . import keys, order_view, traces
from .accounts import settings_of
from .orders import ORDER_ID

TEXT_MAX = 200
FOUND_MAX = 20
"""So many orders, decisions, accounts and keys are shown of each."""
_DEAL = re.compile(r"(?:deal|#)\s*(?:no\.?)?\s*#?\s*(\d{1,15})", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,15}")
_TEST_LABEL = re.compile(r"(?:deal\s+)?T-(\d{1,12})", re.IGNORECASE)
_KEY_TEXT = re.compile(r"key_(?:test|live)\.[^.]*\.([0-9a-f]{1,16})(?:\..*)?", re.IGNORECASE)
_KEY_ID = re.compile(r"[0-9a-f]{4,16}")
# Ids of orders and requests begin with their time: 8 digits of it are about a minute.
_ORDER_ID_BEGINNING = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f-]{0,27})?")
_REQUEST_ID_BEGINNING = re.compile(r"[0-9a-f]{8,24}")


@dataclass(frozen=True, slots=True)
class _Typed:
    """What a text can be. Ids may be beginnings of ids; None: it cannot be that."""

    text: str
    deal_no: int | None
    only_deal: bool
    """It names a deal, and can be nothing else."""
    test_no: int | None
    order_id: str | None
    request_id: str | None
    key_id: str | None


@action("GET /search", command="search", query={"q": Option()})
async def search(desk: Desk, actor: Actor, q: str = "") -> View:
    """Find orders, decisions, accounts and keys.

    TEXT is a deal number (3, "deal 3" or #3), the label of a test order (T-3), a login or a firm in any case,
    an order id, a client order id, an Idempotency-Key, a request id or a key id. The beginning of an id, or a
    part of a name, is enough. Exact matches come first.

    \b
    Examples:
      bullion desk search "deal 3"
      bullion desk search PO-18
      bullion desk search aurum
    """
    text = " ".join(q.replace("\0", "").split())
    if not 1 <= len(text) <= TEXT_MAX:
        raise invalid_field(("q",), f"must have 1 to {TEXT_MAX} characters", within="query")
    typed = _read(text)

    async def work(records: Records) -> View:
        orders = await _orders(records, actor.broker, typed)
        booked = {each["request_id"] for each in orders}
        decisions = await _decisions(records, actor.broker, typed)
        groups = {
            "orders": _best(orders, "id"),
            "decisions": _best(
                (each for each in decisions if each["request_id"] not in booked), "request_id"
            ),
            "accounts": [] if typed.only_deal else await _accounts(records, actor.broker, typed.text),
            "keys": [] if typed.key_id is None else await _keys(records, actor.broker, typed.key_id),
        }
        return {"query": typed.text, **groups, "opens": _opens(groups)}

    return await desk.read(actor, "search", work)


def _read(text: str) -> _Typed:
    lower = text.lower()
    deal, label, key = _DEAL.fullmatch(text), _TEST_LABEL.fullmatch(text), _KEY_TEXT.fullmatch(text)
    number = deal[1] if deal else text if _NUMBER.fullmatch(text) else None
    key_id = key[1].lower() if key else lower
    return _Typed(
        text=key_id if key else text,  # Without the secret of a key that was pasted.
        deal_no=None if number is None else int(number),
        only_deal=deal is not None,
        test_no=None if label is None else int(label[1]),
        order_id=lower if _ORDER_ID_BEGINNING.fullmatch(lower) else None,
        request_id=lower if _REQUEST_ID_BEGINNING.fullmatch(lower) else None,
        key_id=key_id if _KEY_ID.fullmatch(key_id) else None,
    )


async def _orders(records: Records, broker: str, typed: _Typed) -> list[View]:
    """An order may come twice, with different fields that matched."""
    found = await _orders_by_number(records, broker, typed) + await _orders_by_id(records, broker, typed)
    return found if typed.only_deal else found + await _orders_by_reference(records, broker, typed.text)


async def _orders_by_number(records: Records, broker: str, typed: _Typed) -> list[View]:
    found: list[View] = []
    if typed.deal_no is not None:
        deals = await records.search_deals(broker, typed.deal_no, FOUND_MAX)
        found += [_order(each, "deal number", exact=True) for each in deals]
    if typed.test_no is not None:
        tests = await records.search_test_orders(broker, typed.test_no, FOUND_MAX)
        found += [_order(each, "test label", exact=True) for each in tests]
    return found


async def _orders_by_id(records: Records, broker: str, typed: _Typed) -> list[View]:
    found: list[View] = []
    if typed.order_id is not None and ORDER_ID.fullmatch(typed.order_id):
        order = await records.order(broker, typed.order_id)  # Also an archived one.
        found += [] if order is None else [_order(order, "order id", exact=True)]
    elif typed.order_id is not None:
        orders = await records.search_order_ids(broker, typed.order_id, FOUND_MAX)
        found += [_order(each, "order id", exact=False) for each in orders]
    if typed.request_id is not None:
        for each in await records.search_request_ids(broker, typed.request_id, FOUND_MAX):
            found.append(_order(each, "request id", exact=each.order.request_id == typed.request_id))
    return found


async def _orders_by_reference(records: Records, broker: str, text: str) -> list[View]:
    named = await records.search_client_order_ids(broker, text, FOUND_MAX)
    sent = await records.search_idempotency_keys(broker, text, FOUND_MAX)
    return [
        *(_order(each, "client order id", exact=each.order.asked.client_order_id == text) for each in named),
        *(_order(each, "Idempotency-Key", exact=each.order.idempotency_key == text) for each in sent),
    ]


async def _decisions(records: Records, broker: str, typed: _Typed) -> list[View]:
    """Of calls that booked no order, or no new one."""
    found: list[AccountTrace] = []
    if typed.request_id is not None:
        found += await records.search_decided_requests(broker, typed.request_id, FOUND_MAX)
    if not typed.only_deal:
        found += await records.search_decisions(broker, typed.text, FOUND_MAX)
    return [_decision(each, typed) for each in found]


def _decision(found: AccountTrace, typed: _Typed) -> View:
    trace = found.trace
    fields = {
        "request id": (trace.request_id, typed.request_id),
        "client order id": (None if trace.asked is None else trace.asked.client_order_id, typed.text),
        "Idempotency-Key": (trace.idempotency_key, typed.text),
    }
    matched = [name for name, (value, text) in fields.items() if value and text and value.startswith(text)]
    exact = any(value is not None and value == text for value, text in fields.values())
    return {**traces.view(found), "matched": ", ".join(matched), "exact": exact}


async def _accounts(records: Records, broker: str, text: str) -> list[View]:
    found = await records.search_accounts(broker, text, FOUND_MAX)
    return [{**view_of(each, _account), "matched": "login or firm", "exact": exact} for each, exact in found]


def _account(account: Account) -> View:
    return {"login_id": account.login_id, **settings_of(account)}


async def _keys(records: Records, broker: str, key_id: str) -> list[View]:
    found = [view_of(each, keys.view) for each in await records.search_keys(broker, key_id, FOUND_MAX)]
    return [{**each, "matched": "key id", "exact": each.get("key_id") == key_id} for each in found]


def _order(found: AccountOrder, matched: str, *, exact: bool) -> View:
    return {**order_view.view(found), "matched": matched, "exact": exact}


def _best(found: Iterable[View], name: str) -> list[View]:
    """Each thing once, exact matches first and otherwise as they were found."""
    ranked = sorted(found, key=lambda each: not each["exact"])
    return list({each[name]: each for each in reversed(ranked)}.values())[::-1][:FOUND_MAX]


_IDS = {"orders": "id", "decisions": "request_id", "accounts": "login_id", "keys": "key_id"}


def _opens(groups: Mapping[str, Sequence[View]]) -> View | None:
    """The one thing that is meant exactly, if there is one."""
    exact = [
        {"kind": kind, "id": each[_IDS[kind]]}
        for kind, found in groups.items()
        for each in found
        if each["exact"] and not is_unreadable(each)
    ]
    return exact[0] if len(exact) == 1 else None
