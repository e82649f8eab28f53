"""Reads the catalogue from the store: all of it, or what changed since a version."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence

import msgspec

from bullion.catalogue.source import NO_EXTRA_READS, Changes, Entry, ExtraReads

from . import row_decoders
from .engine import Engine, Row, Transaction, one_row

_PAGE_SIZE = 500
"""Accounts per read: few enough that concurrent calls do not wait long."""
_BEFORE_THE_FIRST = 0
_KINDS = frozenset({"account", "symbol", "group", "duty", "switches", "broker", "key"})


class StoreSource:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known_failovers = engine.failovers

    async def wait_for_change(self, timeout_s: float) -> None:
        await self._engine.wait_for_change(timeout_s)

    async def changes(self, since: int | None, extra: ExtraReads = NO_EXTRA_READS) -> Changes:
        # Noted from before the read: if another server takes over meanwhile, the next read is whole.
        failovers = self._engine.failovers
        found = await self._changes(since if failovers == self._known_failovers else None, extra)
        self._known_failovers = failovers
        return found

    async def _changes(self, since: int | None, extra: ExtraReads) -> Changes:
        if since is not None and not (extra.keys or extra.accounts or extra.after is not None):
            row = await self._engine.one("catalogue_state")
            if row is not None and row["oldest_change"] <= since == row["version"]:
                return Changes(since, row["clock_us"], ())

        async def body(transaction: Transaction) -> Changes:
            state = await one_row(transaction, "catalogue_state")
            version, clock_us = state["version"], state["clock_us"]
            noted: Sequence[Row] = ()
            if since is not None and state["oldest_change"] <= since < version:
                noted = await transaction.all("changes_since", since)
            unknown = any(row["kind"] not in _KINDS for row in noted)
            if since is None or since < state["oldest_change"] or since > version or unknown:
                # Never loaded, too far behind, or ahead (the store was restored from an older copy). Or a
                # change of a kind that only a newer version knows.
                found, ends_at = await _page(transaction, _BEFORE_THE_FIRST)
                found += await _everything_else(transaction) + await _extra_entries(transaction, extra)
                return Changes(version, clock_us, found, whole=True, page_ends_at=ends_at)
            found, ends_at = await _changed(transaction, noted), None
            if extra.after is not None:
                page, ends_at = await _page(transaction, extra.after)
                found += page
            found += await _extra_entries(transaction, extra)
            return Changes(version, clock_us, found, page_ends_at=ends_at)

        return await self._engine.read("catalogue", body)


async def _page(transaction: Transaction, after: int) -> tuple[list[Entry], int | None]:
    """Accounts with their keys, ordered by id; and the last id, if there may be more."""
    rows = await transaction.all("accounts_after", after, _PAGE_SIZE)
    if not rows:
        return [], None
    found: list[Entry] = []
    owners = {}
    for row in rows:
        owner, unreadable = row_decoders.account(row)
        owners[owner.id] = owner
        found.append(unreadable or owner)
    last = rows[-1]["id"]
    keys = await transaction.all("keys_between", after, last)
    found += [row_decoders.key(row, owners[row["account_id"]]) for row in keys]
    return found, last if len(rows) == _PAGE_SIZE else None


async def _extra_entries(transaction: Transaction, extra: ExtraReads) -> list[Entry]:
    found = await _keys(transaction, extra.keys)
    for account_id in extra.accounts:
        row = await transaction.one("account_by_id", account_id)
        if row is not None:
            found.append(_account(row))
    return found


def _account(row: Row) -> Entry:
    account, unreadable = row_decoders.account(row)
    return unreadable or account


async def _keys(transaction: Transaction, key_ids: Collection[str]) -> list[Entry]:
    """The existing keys among these, with their accounts."""
    if not key_ids:
        return []
    found: list[Entry] = []
    asked = msgspec.json.encode(list(key_ids)).decode()
    for row in await transaction.all("some_keys", asked):
        account, unreadable = row_decoders.account(row, created="account_created_at_us")
        key = row_decoders.key(row, account)
        if row["key_id"] in key_ids:
            found += (unreadable or account, key)
    return found


async def _changed(transaction: Transaction, noted: Iterable[Row]) -> list[Entry]:
    found: list[Entry] = []
    key_ids: list[str] = []
    for row in noted:
        if row["kind"] == "key":
            key_ids.append(row["subject"])
            continue
        found += await _one(transaction, row["kind"], row["broker"], row["subject"])
    return found + await _keys(transaction, key_ids)


async def _everything_else(transaction: Transaction) -> list[Entry]:
    hosts = _by(await transaction.all("all_hosts"), lambda row: row["broker"])
    terms = _by(await transaction.all("all_terms"), lambda row: (row["broker"], row["group_code"]))
    found: list[Entry] = [
        row_decoders.broker(row, hosts[row["tag"]]) for row in await transaction.all("all_brokers")
    ]
    found += map(row_decoders.switches, await transaction.all("all_switches"))
    found += [
        row_decoders.group(row, terms[row["broker"], row["code"]])
        for row in await transaction.all("all_groups")
    ]
    duties = _by(await transaction.all("all_duties"), lambda row: (row["broker"], row["name"]))
    found += map(row_decoders.duty_table, duties.values())
    found += map(row_decoders.symbol, await transaction.all("all_symbols"))
    return found


def _by(found: Iterable[Row], name: Callable[[Row], object]) -> defaultdict[object, list[Row]]:
    grouped: defaultdict[object, list[Row]] = defaultdict(list)
    for row in found:
        grouped[name(row)].append(row)
    return grouped


async def _one(transaction: Transaction, kind: str, broker: str, subject: str) -> list[Entry]:
    """The current state of a changed thing. A broker comes with its switches: see `Catalogue`."""
    match kind:
        case "account":
            row = await transaction.one("one_account", broker, subject)
            return [] if row is None else [_account(row)]
        case "symbol":
            row = await transaction.one("one_symbol", broker, subject)
            return [] if row is None else [row_decoders.symbol(row)]
        case "group":
            row = await transaction.one("one_group", broker, subject)
            terms = await transaction.all("terms_of_group", broker, subject)
            return [] if row is None else [row_decoders.group(row, terms)]
        case "duty":
            duties = await transaction.all("one_duty", broker, subject)
            return [row_decoders.duty_table(duties)] if duties else []
        case "switches":
            row = await transaction.one("one_switches", broker)
            return [] if row is None else [row_decoders.switches(row)]
        case "broker":
            row = await transaction.one("one_broker", broker)
            if row is None:
                return []
            hosts = await transaction.all("hosts_of_broker", broker)
            return [row_decoders.broker(row, hosts), *await _one(transaction, "switches", broker, broker)]
    raise ValueError(f"unknown kind of change in the store: {kind}")
