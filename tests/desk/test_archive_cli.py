"""`bullion desk archive …` on both stores: asked first, gone on with after a kill, and files to check."""

import asyncio
import gzip
import json
import os
from pathlib import Path
from typing import Any

import click
import pytest

from bullion.desk_cli.archive_file import ArchiveFile, DamagedFile, check
from bullion.orders.trace import Trace
from bullion.settings import read_settings
from bullion.store.traces import StoredTraces
from bullion.wiring.store import open_store
from tests.booking.fixtures import rows
from tests.desk.test_dealing_cli import Shell, shell  # noqa: F401 - fixture
from tests.support.command import environment
from tests.support.forked_process import start
from tests.support.node import SECRET, until

ORDERS = 600
START_US = 1_780_000_000_000_000

INSERT = """
{numbers}
INSERT INTO orders SELECT
    books.id, n, {id}, 'api', 'k' || n, 'GOLD', 'buy', 10000, NULL, NULL, 'gold', 7124000, 7124000, 'filled',
    'k1', '000000000000000000000000', {start} + n * 1000000, '{{"price": "71240.00"}}', NULL, NULL, NULL, NULL
FROM numbers CROSS JOIN books WHERE books.environment = 'test'
"""


def create_records(number: int = ORDERS, *, aside: int | None = None) -> None:
    """Orders of the only account, as if they had been placed long ago; all of them set aside."""
    run(_create_records, number, number if aside is None else aside)


async def _create_records(engine: Any, number: int, aside: int) -> None:
    sqlite = "Sqlite" in type(engine).__name__
    numbers = (
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $1)"
        if sqlite
        else "WITH numbers AS (SELECT generate_series(1, CAST($1 AS BIGINT)) AS n)"
    )
    hexed = "printf('%012x', {0})" if sqlite else "lpad(to_hex({0}), 12, '0')"
    at_ms = hexed.format(f"CAST({START_US // 1000} + n * 1000 AS BIGINT)")
    ordinal = hexed.format("CAST(n AS BIGINT)")
    order_id = f"substr({at_ms}, 1, 8) || '-' || substr({at_ms}, 9) || '-7abc-8abc-' || {ordinal}"
    await rows(engine, INSERT.format(numbers=numbers, id=order_id, start=START_US), number)
    await rows(
        engine,
        "UPDATE books SET order_count = $1, archived_count = $2, last_order_at_us = $3 "
        "WHERE environment = 'test'",
        number,
        aside,
        START_US + number * 1_000_000,
    )


def run(work: Any, *values: Any) -> Any:
    async def opened() -> Any:
        async with open_store(read_settings(os.environ, Path("none")), migrate=False) as store:
            return await work(store.engine, *values)

    return asyncio.run(opened())


def counts() -> tuple[int, int]:
    """Orders that are where they were, and orders that are archived."""

    async def look(engine: Any) -> tuple[int, int]:
        (found,) = await rows(
            engine,
            "SELECT (SELECT count(*) FROM orders) AS hot, (SELECT count(*) FROM archived_keys) AS cold",
        )
        return found["hot"], found["cold"]

    found: tuple[int, int] = run(look)
    return found


def order_id(number: int) -> str:
    at_ms = f"{START_US // 1000 + number * 1000:012x}"
    return f"{at_ms[:8]}-{at_ms[8:]}-7abc-8abc-{number:012x}"


def test_it_asks_first_and_says_what_it_did(shell: Shell) -> None:  # noqa: F811
    create_records(20, aside=15)
    assert shell.desk("archive show")["to_archive"] == {"orders": 15, "accounts": 1}
    asked = shell.refused("archive orders --before 30d", code=2)
    assert "Archive 15 test orders made before" in asked
    assert counts() == (20, 0)
    before = shell.desk(f"orders show {order_id(1)}")
    told = shell.told("archive orders --before 30d --login aurum --yes")
    assert "orders    15" in told
    assert counts() == (5, 15)
    assert shell.desk(f"orders show {order_id(1)}") == before
    assert before["archived"] is True
    assert shell.desk("archive show --before 30d")["archived"]["orders"] == 15
    assert shell.desk("archive orders --before 30d")["orders"] == 0
    actions = [entry["action"] for entry in shell.desk("audit list --limit 5")["items"]]
    assert actions[:4] == ["archived_orders", "archive_orders", "archived_orders", "archive_orders"]
    assert "is not an ISO 8601 time" in shell.refused("archive orders --before soon --yes")
    assert "no such account" in shell.refused("archive show --login nobody")


def test_one_that_is_killed_is_gone_on_with(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    create_records()
    settings = {name: value for name, value in os.environ.items() if name.startswith("BULLION_")}
    words = ["desk", "archive", "orders", "--before", "30d", "--yes"]
    with (tmp_path / "out").open("wb") as out:
        process = start(words, tmp_path, environment(**settings), out, out)
    try:
        until(lambda: counts()[1] > 0 or process.poll() is not None, within_s=30)
    finally:
        process.kill()
        process.wait(30)
    left, moved = counts()
    assert left + moved == ORDERS
    assert moved > 0
    assert shell.desk("archive orders --before 30d --yes")["orders"] == left
    assert counts() == (0, ORDERS)
    done = shell.desk("archive export all.jsonl.gz")
    exported = lines(tmp_path / "all.jsonl.gz")[1:-1]
    assert done["lines"] == ORDERS
    assert [order["deal_label"] for order in exported] == [f"T-{each}" for each in range(1, ORDERS + 1)]
    assert [order["id"] for order in exported] == [order_id(each) for each in range(1, ORDERS + 1)]


def lines(path: Path) -> list[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as packed:
        return [json.loads(line) for line in packed]


def test_archived_orders_are_copied_into_a_file_that_can_be_checked(
    shell: Shell,  # noqa: F811
    tmp_path: Path,
) -> None:
    create_records(10)
    shell.desk("archive orders --before 30d --yes")
    done = shell.desk("archive export orders.jsonl.gz --login aurum")
    path = tmp_path / "orders.jsonl.gz"
    assert path.stat().st_mode & 0o777 == 0o600
    about, *orders, end = lines(path)
    assert (about["form"], about["kind"], about["broker"]) == ("bullion archive 1", "orders", "main")
    assert done == {"file": "orders.jsonl.gz", **end["end"]}
    shown = shell.desk(f"orders show {order_id(3)}")
    assert orders[2] == {name: shown[name] for name in orders[2]}
    assert {"idempotency_key", "price_anatomy", "login_id", "price"} < orders[2].keys()
    assert SECRET not in path.read_bytes().decode("latin-1") + json.dumps(lines(path))
    checked = shell.desk("archive check orders.jsonl.gz")
    assert (checked["lines"], checked["sha256"]) == (10, done["sha256"])
    assert "exists already" in shell.refused("archive export orders.jsonl.gz", code=2)
    assert shell.desk("archive export few.jsonl.gz --before 2026-05-28T20:26:44")["lines"] == 3
    assert "cannot be written" in shell.refused("archive export nowhere/orders.jsonl.gz", code=2)
    assert sorted(each.name for each in tmp_path.iterdir() if "jsonl" in each.name) == [
        "few.jsonl.gz",
        "orders.jsonl.gz",
    ]


def spoiled(path: Path, change: Any) -> None:
    text = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(change(text))))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: [text[0], *text[2:]], "do not match"),
        (lambda text: text[:-1], "its last line is missing"),
        (lambda text: [*text[:2], text[2].replace(b"71240", b"71241"), *text[3:]], "do not match"),
        (lambda text: [b'{"form": "something else"}\n', *text[1:]], "it is not an archive file"),
        (lambda _: [], "it cannot be read"),
    ],
)
def test_a_file_that_was_changed_is_found_out(tmp_path: Path, change: Any, why: str) -> None:
    path = tmp_path / "a.jsonl.gz"
    target = ArchiveFile(path, {"kind": "orders"})
    for number in range(3):
        target.add({"id": number, "price": "71240.00"})
    target.finish()
    assert check(path)["lines"] == 3
    spoiled(path, change)
    with pytest.raises(DamagedFile, match=why):
        check(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DamagedFile, match="cannot be read"):
        check(path)


def test_two_commands_do_not_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    first = ArchiveFile(path, {"kind": "traces"})
    first.add({"id": 1})
    with pytest.raises(click.UsageError, match="Another command is writing"):
        ArchiveFile(path, {"kind": "traces"})
    first.add({"id": 2})
    first.finish()
    assert check(path)["lines"] == 2
    with pytest.raises(click.UsageError, match="exists already"):
        ArchiveFile(path, {"kind": "traces"})
    assert list(tmp_path.iterdir()) == [path]
    path.rename(tmp_path / "b.jsonl.gz")
    second = ArchiveFile(path, {"kind": "traces"})
    first.drop()
    second.finish()
    assert check(path)["lines"] == 0


@pytest.mark.parametrize("opened_before", [False, True])
def test_a_file_that_another_command_finished_meanwhile_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened_before: bool
) -> None:
    path = tmp_path / "a.jsonl.gz"
    other = ArchiveFile(path, {"kind": "traces"})
    other.add({"id": 1})
    real_open = os.open

    def open_while_the_other_finishes(*given: Any) -> int:
        monkeypatch.setattr(os, "open", real_open)
        if opened_before:
            descriptor = real_open(*given)
            other.finish()
            return descriptor
        other.finish()
        return real_open(*given)

    monkeypatch.setattr(os, "open", open_while_the_other_finishes)
    with pytest.raises(click.UsageError, match="Another command" if opened_before else "exists already"):
        ArchiveFile(path, {"kind": "traces"})
    assert check(path)["lines"] == 1
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_command_left_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    (tmp_path / "a.jsonl.gz.part").write_bytes(b"x" * 100_000)
    target = ArchiveFile(path, {"kind": "traces"})
    target.finish()
    assert check(path)["lines"] == 0


def test_check_says_it_in_a_sentence(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "not.jsonl.gz").write_bytes(b"hello")
    assert "not.jsonl.gz is damaged: it cannot be read" in shell.refused("archive check not.jsonl.gz")


def note(*traces: Trace) -> None:
    async def work(engine: Any) -> None:
        book = StoredTraces(engine)
        for each in traces:
            book.add(each)
        await book.write()

    run(work)


def trace(number: int, broker: str = "main", account_id: int = 1) -> Trace:
    at_us = START_US + number * 1_000_000
    request_id = f"{at_us // 1000:012x}{number:012x}"
    return Trace(request_id, at_us, broker, account_id, "test", "a1b2", "filled")


def test_old_decisions_are_moved_into_a_file(shell: Shell, tmp_path: Path) -> None:  # noqa: F811
    shell.desk("brokers put other --name Other")
    note(trace(1), trace(2, "other"), trace(3))
    note(trace(4), trace(5))
    note(trace(6), trace(7, "other"), trace(8))
    before = {each["request_id"]: each for each in shell.desk("traces list")["items"]}
    assert len(before) == 6
    line = "archive traces old.jsonl.gz --before 2026-05-28T20:26:45.5"
    assert "Add --yes" in shell.refused(line, code=2)
    done = shell.desk(f"{line} --yes")
    about, *moved, _ = lines(tmp_path / "old.jsonl.gz")
    assert (about["kind"], about["broker"], done["lines"]) == ("traces", "main", 4)
    assert moved == [before[trace(number).request_id] for number in (1, 3, 4, 5)]
    left = [each["request_id"] for each in shell.desk("traces list")["items"]]
    assert left == [trace(8).request_id, trace(6).request_id]
    others = shell.desk("--broker other traces list")["items"]
    assert [each["request_id"] for each in others] == [trace(each).request_id for each in (7, 2)]
    entry = shell.desk("audit list --limit 1")["items"][0]
    assert (entry["action"], entry["after"]["lines"]) == ("archive_traces", 4)
    assert entry["after"]["sha256"] == done["sha256"] == shell.desk("archive check old.jsonl.gz")["sha256"]
    note(trace(9))
    assert shell.desk("archive traces rest.jsonl.gz --before 1d --yes")["lines"] == 3
    assert shell.desk("traces list")["items"] == []
