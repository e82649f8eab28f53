"""A broker that was moved to another store: nothing more is recorded for it here. On both engines."""

import pytest

from bullion.allocation.book import ACCOUNTS_IN_RANGE, book_id, first_book_id
from bullion.catalogue.catalogue import Catalogue
from bullion.desk.actions import accounts, brokers, health
from bullion.desk.bodies import NewAccountBody
from bullion.desk.conversion import convert
from bullion.desk.desk import Desk
from bullion.environment import Environment
from bullion.events.event import AccountEvent, EventType
from bullion.faults import StoreUnavailable
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError
from bullion.store.broker_move import Target, mark, take_back
from bullion.store.catalogue_source import StoreSource
from bullion.store.engine import Engine
from bullion.store.store_copy import CopyRefused
from tests.booking.fixtures import rows

from .desk_over import ADMIN, OTHER, desk_over
from .test_cover_planning import Covered, buy, covered  # noqa: F401 - a fixture
from .webhooks import delivery_on, hooked_on

pytestmark = pytest.mark.anyio

THERE = Target("an id", "db-b:5432/bullion")


async def move(desk: Desk) -> None:
    assert await mark(desk.store, desk.chain, "main", THERE, "a person")


def account(login_id: str) -> NewAccountBody:
    return convert({"login_id": login_id, "group": "retail"}, NewAccountBody)


async def test_the_desk_changes_nothing_of_it_until_the_move_is_taken_back(desk: Desk) -> None:
    await accounts.create_account(desk, ADMIN, account("before"))
    await move(desk)
    with pytest.raises(RefusalError) as refused:
        await accounts.create_account(desk, ADMIN, account("meanwhile"))
    assert refused.value.refusal is CONFLICT
    assert "was moved to db-b:5432/bullion" in str(refused.value.message)
    await accounts.create_account(desk, OTHER, account("elsewhere"))
    (shown,) = await brokers.list_brokers(desk, ADMIN)
    assert shown["moved_to"] == "db-b:5432/bullion"
    (store,) = [each for each in await health.get_health(desk, ADMIN) if each["part"] == "store"]
    assert store["state"] == "bad"

    await take_back(desk.store, desk.chain, "main", THERE, "a person")
    await accounts.create_account(desk, ADMIN, account("after"))
    (shown,) = await brokers.list_brokers(desk, ADMIN)
    assert "moved_to" not in shown


async def test_a_mark_is_made_once_and_taken_back_for_the_store_that_it_names(desk: Desk) -> None:
    with pytest.raises(CopyRefused, match="is not marked"):
        await take_back(desk.store, desk.chain, "main", THERE, "a person")
    await move(desk)
    assert not await mark(desk.store, desk.chain, "main", THERE, "a person")
    elsewhere = Target("another id", "db-c/bullion")
    with pytest.raises(CopyRefused, match="to another store before"):
        await mark(desk.store, desk.chain, "main", elsewhere, "a person")
    with pytest.raises(CopyRefused, match="another store than --to"):
        await take_back(desk.store, desk.chain, "main", elsewhere, "a person")


async def test_nodes_close_it_for_every_call(desk: Desk, engine: Engine) -> None:
    catalogue, source = Catalogue(), StoreSource(engine)
    catalogue.apply(await source.changes(None), 0)
    assert not catalogue.switches_of("main").moved
    await move(desk)
    catalogue.apply(await source.changes(catalogue.version), 0)
    closed = catalogue.switches_of("main")
    assert (closed.moved, closed.halted, closed.paused, closed.production) == (True, True, True, False)
    assert not catalogue.switches_of("other").moved
    fresh = Catalogue()
    fresh.apply(await source.changes(None), 0)
    assert fresh.switches_of("main") == closed
    await take_back(desk.store, desk.chain, "main", THERE, "a person")
    catalogue.apply(await source.changes(catalogue.version), 0)
    assert not catalogue.switches_of("main").moved


async def test_its_webhooks_are_neither_changed_nor_delivered(engine: Engine) -> None:
    hooked = await hooked_on(engine)
    webhook, _ = await hooked.hook("http://127.0.0.1:9/hook")
    await hooked.happen()
    await move(desk_over(engine))
    with pytest.raises(StoreUnavailable):
        await hooked.change(webhook, description="another")
    with pytest.raises(StoreUnavailable):
        await hooked.hook("http://127.0.0.1:9/other")
    await delivery_on(engine).deliver_due()
    assert await hooked.attempts(webhook) == []


async def test_no_cover_is_planned_for_it(covered: Covered) -> None:  # noqa: F811 - the fixture
    await buy(covered, 400)
    assert await covered.plans.books() == [("main", "gold")]
    await move(desk_over(covered.dealings.engine))
    assert await covered.plans.books() == []
    assert not await covered.plan()
    assert await covered.covers() == []


async def test_accounts_of_a_broker_that_was_moved_here_have_a_range_of_their_own(
    desk: Desk, engine: Engine
) -> None:
    await accounts.create_account(desk, ADMIN, account("first"))
    for number in (2 * ACCOUNTS_IN_RANGE + 7, ACCOUNTS_IN_RANGE + 40, ACCOUNTS_IN_RANGE + 3):
        await rows(
            engine,
            "INSERT INTO accounts (id, broker, login_id, group_code, active, api_access, production_trading,"
            f" created_at_us) VALUES ({number}, 'other', 'moved {number}', 'retail', 1, 1, 1, 0)",
        )
    await accounts.create_account(desk, ADMIN, account("next"))
    await accounts.create_account(desk, OTHER, account("another"))
    found = await rows(engine, f"SELECT id FROM accounts WHERE id < {ACCOUNTS_IN_RANGE} ORDER BY id")
    assert [row["id"] for row in found] == [1, 41, 42]


def test_an_event_keeps_its_id_when_its_account_moves() -> None:
    for environment in Environment:
        before = book_id(17, environment)
        after = book_id(17 + 3 * ACCOUNTS_IN_RANGE, environment)
        assert first_book_id(after) == first_book_id(before) == before
        ids = {
            AccountEvent(book, 5, EventType.KEY_REVOKED, 1_700_000_000_000_000).id for book in (before, after)
        }
        assert len(ids) == 1
