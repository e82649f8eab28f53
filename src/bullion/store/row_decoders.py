"""Decodes every kind of row that nodes and the desk use, into its value or an `Unreadable`."""

from collections.abc import Iterable, Sequence

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group
from bullion.accounts.switches import Switches
from bullion.hedge.simulated import Mode, VenueBehaviour
from bullion.keys.key import Key
from bullion.metals.symbol import Symbol
from bullion.rates.duty import DutyTable
from bullion.rates.tick import Tick
from bullion.records.clients import UsedKey
from bullion.records.token import Token
from bullion.unreadable import Unreadable

from . import rows
from .decoding import INSTANT_US_MAX, decoded
from .engine import Row


def broker(row: Row, hosts: Iterable[Row]) -> Broker | Unreadable:
    named, tag = list(hosts), row["tag"]
    stand_in = Broker(tag, tag, tuple(host["host"] for host in named), row["moved_to"])
    return decoded("broker", tag, tag, lambda: rows.broker(row, named), stand_in)


def switches(row: Row) -> Switches | Unreadable:
    tag = row["broker"]
    return decoded("switches", tag, tag, lambda: rows.switches(row), rows.closed_switches(row))


def symbol(row: Row) -> Symbol | Unreadable:
    return decoded("symbol", row["broker"], row["code"], lambda: rows.symbol(row))


def group(row: Row, terms: Iterable[Row]) -> Group | Unreadable:
    return decoded("group", row["broker"], row["code"], lambda: rows.group(row, terms))


def duty_table(found: Sequence[Row]) -> DutyTable | Unreadable:
    return decoded("duty", found[0]["broker"], found[0]["name"], lambda: rows.duty_table(found))


def account(row: Row, created: str = "created_at_us") -> tuple[Account, Unreadable | None]:
    """The account; or a closed stand-in, and the reason."""
    found = decoded("account", row["broker"], row["login_id"], lambda: rows.account(row, created))
    if not isinstance(found, Unreadable):
        return found, None
    closed = rows.closed_account(row)
    return closed, Unreadable(*found.name, found.reason, closed)


def key(row: Row, owner: Account) -> Key | Unreadable:
    """The key shares its owner's values: very many of both may be in memory."""
    return decoded("key", owner.broker, row["key_id"], lambda: rows.key(row, owner.id, owner.broker))


def desk_key(row: Row) -> Key | Unreadable:
    """From a row that has its broker."""
    tag = row["broker"]
    return decoded("key", tag, row["key_id"], lambda: rows.key(row, row["account_id"], tag))


def tick(row: Row) -> Tick | Unreadable:
    return decoded("rate", row["broker"], row["instrument"], lambda: rows.tick(row))


def behaviour(row: Row) -> VenueBehaviour | Unreadable:
    tag = row["broker"]
    return decoded("venue", tag, tag, lambda: rows.behaviour(row), VenueBehaviour(tag, Mode.DOWN))


def used_key(row: Row) -> UsedKey | Unreadable:
    key = desk_key(row)
    if isinstance(key, Unreadable):
        return key
    used_at_us = row["last_used_at_us"]
    known = used_at_us is not None and 0 <= used_at_us <= INSTANT_US_MAX
    return UsedKey(key, row["login_id"], used_at_us if known else None)


def token(row: Row) -> Token | Unreadable:
    return decoded("token", row["broker"], row["token_id"], lambda: rows.token(row))
