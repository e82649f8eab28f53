"""The catalogue's source: all of it, or what changed since a version."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from bullion.catalogue.source import Changes, Entry

from . import rows
from .engine import Engine, Row, Transaction, one_row


class StoreSource:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def changed(self, within_s: float) -> None:
        await self._engine.changed(within_s)

    async def changes(self, since: int | None) -> Changes:
        async def body(transaction: Transaction) -> Changes:
            state = await one_row(transaction, "catalogue_state")
            version, clock_us = state["version"], state["clock_us"]
            if since is None or since < state["oldest_change"] or since > version:
                # Never loaded, too far behind, or ahead: a store put back to an older copy.
                return Changes(version, clock_us, await _everything(transaction), whole=True)
            if since == version:
                return Changes(version, clock_us, ())
            changed = await transaction.all("changes_since", since)
            found = [await _one(transaction, row["kind"], row["broker"], row["subject"]) for row in changed]
            return Changes(version, clock_us, [entry for entry in found if entry is not None])

        return await self._engine.read("catalogue", body)


async def _everything(transaction: Transaction) -> list[Entry]:
    hosts = _by(await transaction.all("all_hosts"), lambda row: row["broker"])
    terms = _by(await transaction.all("all_terms"), lambda row: (row["broker"], row["group_code"]))
    found: list[Entry] = [rows.broker(row, hosts[row["tag"]]) for row in await transaction.all("all_brokers")]
    found += map(rows.switches, await transaction.all("all_switches"))
    found += [
        rows.group(row, terms[row["broker"], row["code"]]) for row in await transaction.all("all_groups")
    ]
    duties = _by(await transaction.all("all_duties"), lambda row: (row["broker"], row["name"]))
    found += map(rows.duty_table, duties.values())
    found += map(rows.symbol, await transaction.all("all_symbols"))
    found += map(rows.account, await transaction.all("all_accounts"))
    found += map(rows.key, await transaction.all("all_keys"))
    return found


def _by(found: Iterable[Row], name: Callable[[Row], object]) -> defaultdict[object, list[Row]]:
    grouped: defaultdict[object, list[Row]] = defaultdict(list)
    for row in found:
        grouped[name(row)].append(row)
    return grouped


async def _one(transaction: Transaction, kind: str, broker: str, subject: str) -> Entry | None:
    match kind:
        case "key":
            row = await transaction.one("one_key", subject)
            return None if row is None else rows.key(row)
        case "account":
            row = await transaction.one("one_account", broker, subject)
            return None if row is None else rows.account(row)
        case "symbol":
            row = await transaction.one("one_symbol", broker, subject)
            return None if row is None else rows.symbol(row)
        case "group":
            row = await transaction.one("one_group", broker, subject)
            return (
                None
                if row is None
                else rows.group(row, await transaction.all("terms_of_group", broker, subject))
            )
        case "duty":
            duties = await transaction.all("one_duty", broker, subject)
            return rows.duty_table(duties) if duties else None
        case "switches":
            row = await transaction.one("one_switches", broker)
            return None if row is None else rows.switches(row)
        case "broker":
            row = await transaction.one("one_broker", broker)
            return None if row is None else rows.broker(row, await transaction.all("hosts_of_broker", broker))
    raise ValueError(f"unknown kind of change in the store: {kind}")
