"""The guide to scaling: its names and numbers are those of the code, and its statements can be run."""

import ast
import asyncio
import json
import re
from pathlib import Path

from bench.extent import FULL
from bench.growing import growth_ratios
from bench.growth import Growth, Pair
from bench.market_lines import COMPARED_WITH
from bench.ratios import RATIOS
from bullion.accounts.switches import BudgetLimits
from bullion.booking import known_books, queue, verify
from bullion.catalogue import clients
from bullion.keys import issuer
from bullion.settings import read_settings
from bullion.store import batch_loader, postgres, standby, traces
from bullion.store.postgres import PostgresEngine
from bullion.wiring import trading
from tests.docs.markdown import ROOT, Block, blocks, prose, quoted
from tests.docs.tables import tables_of
from tests.store.test_plans import BOOK_OF, NOT_LED_BY_BOOK
from tests.support.node import until
from tests.support.servers import Postgres

PAGE = ROOT / "docs/scaling.md"


def of_language(language: str) -> list[Block]:
    return [block for block in blocks(PAGE) if block.language == language]


def section(heading: str) -> str:
    return prose(PAGE).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def flat() -> str:
    return " ".join(prose(PAGE).split())


def test_ratios_that_are_named_exist() -> None:
    pairs = {"place": Pair(1, 1, 1)}
    there = {ratio.name for ratio in RATIOS}
    there |= {found.name for found in growth_ratios([Growth("pg", 1, pairs, pairs)])}
    there.add("orders_with_events_vs_without")
    there |= {"filling_last_vs_first", "filling_slowest_second", "filling_p99_over_p50"}
    there |= json.loads((ROOT / "bench/results.json").read_bytes())["ratios"].keys()
    there |= {f"cover_{figure}_vs_{other}" for other in COMPARED_WITH for figure in ("cpu", "p50")}
    named = {text for text in quoted(PAGE) if re.fullmatch(r"\w+_(?:vs|over)_\w+|growth_\w+", text)}
    assert named
    assert named <= there


def test_pictures_that_are_shown_exist() -> None:
    for link in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", prose(PAGE)):
        assert (PAGE.parent / link).is_file(), link


def test_every_table_of_the_store_is_led_by_something() -> None:
    table = prose(PAGE).partition("| Led by |")[2].partition("\n\n")[0]
    led = [re.findall(r"`(\w+)`", line.split(" | ")[1]) for line in table.splitlines()[2:]]
    assert sorted(name for names in led for name in names) == sorted(tables_of("postgres"))
    assert set(led[0]) == set(BOOK_OF)
    assert {"orders_by_id", "archived_keys_by_time"} <= set(quoted(PAGE)) & set(NOT_LED_BY_BOOK)


def test_its_numbers_are_those_of_the_code() -> None:
    text = flat()
    slots, most = trading.TWO_BATCHES
    assert (slots, f"of {most} orders each at most" in text) == (2, True)
    assert f"at most {slots * most} ÷ *L* orders a second: {64 / 0.005:,.0f} at 5 ms" in text
    assert f"{most} ÷ *L* orders a second, {most / 0.005:,.0f} at 5 ms" in text
    (formula,) = [block.text for block in of_language("text") if block.text.startswith("connections")]
    assert f"{postgres.POOL_SIZE + 1} × nodes + {postgres.POOL_SIZE + 1} for each machine" in formula
    assert f"{verify._CONCURRENT_MAX} × nodes while lost answers" in formula
    assert f"each statement of up to {batch_loader._BATCH_MAX} confirmations" in text
    assert f"{clients.KEPT_MAX:,} accounts and keys" in text
    assert f"{known_books._BOOKS_KEPT_MAX:,} books" in text
    assert queue._OPTIMISTIC_TRIES == 2
    assert "after two misses locks it" in text
    assert f"one ring of {traces.BYTES_KEPT // 2**20} MiB" in text
    assert f"{BudgetLimits().orders_per_minute} orders a minute for a key" in text
    assert f"come from {FULL.clients} accounts" in text
    assert f"{FULL.many_clients:,} accounts" in text


def test_the_settings_it_shows_are_read(tmp_path: Path) -> None:
    shown = of_language("ini")
    assert len(shown) == 2
    for block in shown:
        file = tmp_path / ".env"
        file.write_text(block.text, "utf-8")
        others = {"BULLION_DATABASE_URL": "postgresql://u@db-a/d"} if "REPORTS" in block.text else {}
        assert read_settings(others, file) != read_settings(others, tmp_path / "none")


def test_the_load_balancer_sends_brokers_to_their_deployments() -> None:
    (block,) = of_language("nginx")
    (variable,) = re.findall(r"map \$host (\$\w+) \{", block.text)
    assert f"proxy_pass http://{variable};" in flat()
    assert block.text.count("{") == block.text.count("}")


def test_its_reports_are_those_of_the_desk() -> None:
    """Nothing else is read at a standby: only the desk has what reads there, and only for these."""
    sources = {file: file.read_text("utf-8") for file in (ROOT / "src/bullion").rglob("*.py")}
    calling = {
        (file.parent.name, getattr(function, "name", ""))
        for file, source in sources.items()
        if "desk.report" in source
        for function in ast.parse(source).body
        if re.search(r"\bdesk\.report\b", ast.unparse(function))
    }
    table = section("Reading beside the primary").partition("| Report |")[2].partition("\n\n")[0]
    named = {
        name.replace("archived_packs", "_next_packs") for name in re.findall(r"`([a-z]+_[a-z]+)`", table)
    }
    assert calling == {("actions", name) for name in named}
    importing = {
        str(file.relative_to(ROOT / "src/bullion"))
        for file, source in sources.items()
        if re.search(r"\.standby import", source)
    }
    assert importing == {"desk/desk.py", "doctor.py", "wiring/report_gauges.py", "wiring/store.py"}


def test_the_numbers_of_reports() -> None:
    text = section("Reading beside the primary")
    assert f"up to\n{standby.CATCH_UP_S:g} seconds" in text
    assert f"more than {standby.READ_S:g} seconds" in text
    assert f"for {standby.AVOIDED_S:g} seconds" in text
    assert set(re.findall(r"(?m)^\| `(\w+)` \|", text)) == set(standby.OUTCOMES) - {standby.READ_THERE}
    assert f"up to {standby.POOL_SIZE} more at the" in prose(ROOT / "docs/deployment.md")


def test_the_lane_it_shows_is_the_beginning_of_the_id() -> None:
    (shown,) = [block.text for block in of_language("text") if block.text.startswith("key_test")]
    key, below = shown.splitlines()
    assert re.fullmatch(r"[0-9a-f]{16}", key.split(".")[2])
    assert below == f"{' ' * key.index(key.split('.')[2])}lane"
    assert len("lane") == issuer.LANE_DIGITS
    assert f"{16**issuer.LANE_DIGITS:,} lanes" in flat()


def test_partitions_take_the_schema_as_it_is(postgres: Postgres) -> None:
    (parts,) = [block for block in of_language("sql") if "PARTITION BY" in block.text]
    address = postgres.new_database()
    database = address.rpartition("/")[2]

    async def migrate() -> None:
        engine = PostgresEngine(address)
        await engine.open()
        await engine.migrate()
        await engine.close()

    asyncio.run(migrate())
    for statement in filter(str.strip, parts.text.split(";")):
        postgres.sql(statement, database)
    kept = "SELECT count(*) FROM pg_indexes WHERE tablename IN ('orders', 'orders_whole') GROUP BY tablename"
    assert len(set(postgres.sql(kept, database).split())) == 1
    (dropped,) = re.findall(r"DROP CONSTRAINT (\w+)", "\n".join(block.text for block in of_language("sql")))
    assert postgres.sql(f"SELECT 1 FROM pg_constraint WHERE conname = '{dropped}'", database) == "1"


def test_every_table_has_its_place_if_accounts_are_spread(postgres: Postgres, schema_template: str) -> None:
    """All that grow have the book in every unique rule, or are named with the reason why not."""
    (sketch,) = [block.text for block in of_language("sql") if "A sketch" in block.text]
    distributed = dict(re.findall(r"create_distributed_table\('(\w+)', '(\w+)'", sketch))
    references = re.findall(r"create_reference_table\('(\w+)'\)", sketch)
    chapter = prose(PAGE).partition("## One PostgreSQL spread by account")[2].partition("\n## ")[0]
    named = chapter.partition("| Grows, on the coordinator |")[2].partition("\n\n")[0]
    apart = set(re.findall(r"`(\w+)`", named))
    assert distributed == BOOK_OF
    assert not set(references) & distributed.keys()
    growing = _growing_tables()
    assert growing - distributed.keys() == apart
    dropped = re.findall(r"DROP CONSTRAINT (\w+)", sketch)
    unique = postgres.sql(
        "SELECT indrelid::REGCLASS, indexrelid::REGCLASS, attname FROM pg_index JOIN pg_attribute"
        " ON attrelid = indrelid AND attnum = ANY (indkey) WHERE indisunique"
        " AND indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::REGNAMESPACE)",
        schema_template,
    )
    rules: dict[tuple[str, str], set[str]] = {}
    for table, index, column in (line.split("|") for line in unique.splitlines()):
        rules.setdefault((table, index), set()).add(column)
    checked = {table for table, index in rules if table in distributed and index not in dropped}
    assert checked == distributed.keys()
    for (table, index), columns in rules.items():
        if table in distributed and index not in dropped:
            assert distributed[table] in columns, index


def _growing_tables() -> set[str]:
    """Those of the page on deployment that are not small."""
    table = prose(ROOT / "docs/deployment.md").partition("| Tables | Grow with | |")[2].partition("\n\n")[0]
    rows = [line.strip("|").split(" | ") for line in table.splitlines()[2:]]
    assert len(rows) > 20
    few = ("small", "a row each, written again and again", "at most a row each")
    return {
        name
        for names, _, room in rows
        if not room.strip().startswith(few)
        for name in re.findall(r"`(\w+)`", names)
    }


def test_what_it_tells_the_primary_can_be_told() -> None:
    """On a server of its own: from then on no commit of it would be answered without a standby."""
    told = [
        block.text for block in of_language("sql") if "PARTITION" not in block.text and "--" not in block.text
    ]
    names, role, lag = told
    roles = next(block for block in blocks(ROOT / "docs/deployment.md") if "CREATE ROLE" in block.text)
    server = Postgres()
    server.make()
    try:
        for statement in (*roles.text.split(";"), role, lag, *names.split(";")):
            if statement.strip():
                server.sql(statement)
        until(
            lambda: server.sql("SHOW synchronous_standby_names") == "ANY 1 (bullion_b, bullion_c)",
            within_s=10,
        )
        assert server.sql("SELECT setconfig FROM pg_db_role_setting") == "{synchronous_commit=on}"
    finally:
        server.remove()
