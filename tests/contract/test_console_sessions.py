"""Sessions of the console in the store: shared by consoles, ended by time, log-out and the user's token."""

from dataclasses import replace

import pytest

from bullion.console.sessions import Sessions
from bullion.desk.actions.tokens import (
    create_token,
    delete_token,
    end_token_sessions,
    get_token,
    patch_token,
)
from bullion.desk.bodies import TokenBody, TokenChangesBody
from bullion.desk.conversion import Changes
from bullion.desk.desk import Desk
from bullion.desk.identities import Identities
from bullion.keys.hashing import Hasher
from bullion.records.token import Actor
from bullion.refusals.desk import ROLE_TOO_LOW
from bullion.refusals.refusal import RefusalError
from bullion.store.engine import Engine
from tests.booking.fixtures import rows

from .desk_over import ADMIN

pytestmark = pytest.mark.anyio

HOUR_S, DAY_S = 3600, 86_400
FIRST_TOKEN = b"the first token of this deployment"


def identities_of(desk: Desk, first_token: bytes | None = FIRST_TOKEN) -> Identities:
    first = None if first_token is None else desk.token_hasher.hash(first_token)
    return Identities(desk.store, desk.token_hasher, "main", first)


def console(
    desk: Desk, secret: bytes = b"secret", other: bytes | None = None, identities: Identities | None = None
) -> Sessions:
    """The sessions of a console that was just started."""
    hasher = Hasher(secret, "console", other)
    known = identities or identities_of(desk)
    return Sessions(desk.store, known, hasher, "bullion_console_1", lasts_s=12 * HOUR_S, idle_s=HOUR_S)


async def user(desk: Desk, role: str = "dealer") -> Actor:
    made = await create_token(desk, ADMIN, TokenBody(name="Asha", role=role))  # type: ignore[arg-type]
    found = await identities_of(desk).actor(made["token"])
    assert found is not None
    return found


async def make_older(engine: Engine, seconds: int, *columns: str) -> None:
    """As if sessions had begun, or had last been used, so much earlier."""
    for column in columns:
        await rows(engine, f"UPDATE desk_sessions SET {column} = {column} - {seconds * 1_000_000}")


async def test_a_session_is_found_by_every_console_and_after_a_restart(desk: Desk) -> None:
    asha = await user(desk)
    before = console(desk)
    begun = await before.begin(asha)
    cookie = before.cookie(begun)
    for each in (before, console(desk), console(desk)):
        found = await each.find(cookie)
        assert found is not None
        assert (found.actor, found.csrf) == (asha, begun.csrf)


async def test_the_store_has_no_session_id(desk: Desk, engine: Engine) -> None:
    session = await console(desk).begin(await user(desk))
    (row,) = await rows(engine, "SELECT * FROM desk_sessions")
    assert session.id not in str(list(row))
    assert session.csrf not in str(list(row))


async def test_a_session_ends_after_its_life_however_busy_it_is(desk: Desk, engine: Engine) -> None:
    cookie = console(desk).cookie(await console(desk).begin(await user(desk)))
    await make_older(engine, 12 * HOUR_S - 60, "created_at_us", "expires_at_us")
    assert await console(desk).find(cookie) is not None
    await make_older(engine, 60, "created_at_us", "expires_at_us")
    assert await console(desk).find(cookie) is None


async def test_a_session_ends_when_its_pages_were_closed(desk: Desk, engine: Engine) -> None:
    cookie = console(desk).cookie(await console(desk).begin(await user(desk)))
    await make_older(engine, HOUR_S - 60, "used_at_us")
    busy = console(desk)
    assert await busy.find(cookie) is not None
    await busy._record_uses()
    await make_older(engine, HOUR_S - 60, "used_at_us")
    assert await console(desk).find(cookie) is not None
    await make_older(engine, 60, "used_at_us")
    assert await console(desk).find(cookie) is None


async def test_a_use_is_recorded_for_the_session_and_its_token(desk: Desk, engine: Engine) -> None:
    at = console(desk)
    cookie = at.cookie(await at.begin(await user(desk)))
    await make_older(engine, 600, "used_at_us")
    await rows(engine, "UPDATE token_uses SET used_at_us = 7")
    await at.find(cookie)
    await at._record_uses()
    (session,) = await rows(engine, "SELECT * FROM desk_sessions")
    (token,) = await rows(engine, "SELECT * FROM token_uses")
    assert session["used_at_us"] == token["used_at_us"] > session["created_at_us"]
    # Not again for a while: pages send a request every second.
    await at.find(cookie)
    assert at._used == {}


async def test_a_session_ends_by_log_out(desk: Desk) -> None:
    at = console(desk)
    session, other = await at.begin(await user(desk)), await at.begin(await user(desk))
    await at.end(session)
    assert await at.find(at.cookie(session)) is None
    assert await console(desk).find(at.cookie(session)) is None
    assert await at.find(at.cookie(other)) is not None


async def test_a_session_ends_with_its_token(desk: Desk) -> None:
    asha = await user(desk)
    cookie = console(desk).cookie(await console(desk).begin(asha))
    assert asha.token_id is not None
    await delete_token(desk, ADMIN, asha.token_id)
    assert await console(desk).find(cookie) is None


@pytest.mark.parametrize(
    "change", ["role = 'viewer'", "broker = 'other'", "deleted_at_us = 5", "secret_hash = '" + "x" * 64 + "'"]
)
async def test_a_session_ends_when_its_token_is_no_longer_the_same(
    desk: Desk, engine: Engine, change: str
) -> None:
    cookie = console(desk).cookie(await console(desk).begin(await user(desk)))
    assert await console(desk).find(cookie) is not None
    await rows(engine, f"UPDATE tokens SET {change}")
    assert await console(desk).find(cookie) is None


async def test_sessions_of_the_first_token_end_when_it_is_replaced_or_removed(desk: Desk) -> None:
    first = await identities_of(desk).actor(FIRST_TOKEN.decode())
    assert first is not None
    cookie = console(desk).cookie(await console(desk).begin(first))
    found = await console(desk).find(cookie)
    assert found is not None
    assert found.actor == first
    for token in (b"another first token of this one", None):
        assert await console(desk, identities=identities_of(desk, token)).find(cookie) is None
    elsewhere = replace(identities_of(desk), default_broker="other")
    assert await console(desk, identities=elsewhere).find(cookie) is None


async def test_a_session_survives_the_exchange_of_the_secret(desk: Desk) -> None:
    old = console(desk)
    begun = await old.begin(await user(desk))
    found = await console(desk, b"new", b"secret").find(old.cookie(begun))
    assert found is not None
    assert found.csrf == begun.csrf
    assert await console(desk, b"new").find(old.cookie(begun)) is None


async def test_a_cookie_that_was_not_sealed_here_is_nobodys(desk: Desk) -> None:
    at = console(desk)
    session = await at.begin(await user(desk))
    for cookie in (None, "", session.id, f"{session.id}.{'0' * 64}", "é.é"):
        assert await at.find(cookie) is None
    assert await console(desk, b"elsewhere").find(at.cookie(session)) is None


async def test_old_sessions_are_deleted_and_a_user_has_a_hundred_at_most(desk: Desk, engine: Engine) -> None:
    at, asha, bela = console(desk), await user(desk), await user(desk)
    for _ in range(99):
        await at.begin(asha)
    await make_older(engine, 60, "used_at_us")
    newest = at.cookie(await at.begin(asha))
    await at.begin(bela)
    await at.begin(asha)
    counted = await rows(engine, "SELECT user_id, count(*) AS many FROM desk_sessions GROUP BY user_id")
    assert {row["user_id"]: row["many"] for row in counted} == {asha.token_id: 100, bela.token_id: 1}
    assert await at.find(newest) is not None
    await make_older(engine, DAY_S, "created_at_us", "used_at_us", "expires_at_us")
    await at.begin(bela)
    assert len(await rows(engine, "SELECT * FROM desk_sessions")) == 1


async def test_another_role_ends_the_sessions_and_another_name_does_not(desk: Desk) -> None:
    asha, bela = await user(desk), await user(desk)
    at = console(desk)
    cookies = [at.cookie(await at.begin(each)) for each in (asha, bela)]
    assert asha.token_id is not None
    await patch_token(desk, ADMIN, asha.token_id, Changes(TokenChangesBody, {"name": "Asha K"}))
    found = await console(desk).find(cookies[0])
    assert found is not None
    assert found.actor.name == f"Asha K ({asha.token_id})"
    # Also if the old role comes back.
    for role in ("admin", "dealer"):
        await patch_token(desk, ADMIN, asha.token_id, Changes(TokenChangesBody, {"role": role}))
        assert await console(desk).find(cookies[0]) is None
    assert await console(desk).find(cookies[1]) is not None


async def test_sessions_are_counted_and_ended_by_an_admin(desk: Desk, engine: Engine) -> None:
    asha, at = await user(desk), console(desk)
    cookies = [at.cookie(await at.begin(asha)) for _ in range(3)]
    assert asha.token_id is not None
    assert (await get_token(desk, ADMIN, asha.token_id))["sessions"] == 3
    await make_older(engine, 2 * HOUR_S, "used_at_us")
    await at.begin(asha)
    assert (await get_token(desk, ADMIN, asha.token_id))["sessions"] == 1
    assert (await end_token_sessions(desk, ADMIN, asha.token_id))["sessions"] == 0
    assert [await console(desk).find(cookie) for cookie in cookies] == [None] * 3


async def test_who_lost_their_role_cannot_finish_what_they_began(desk: Desk) -> None:
    """The console knows a session's role for up to a second; the change itself asks again."""
    asha = await user(desk, "admin")
    assert asha.token_id is not None
    await patch_token(desk, ADMIN, asha.token_id, Changes(TokenChangesBody, {"role": "dealer"}))
    with pytest.raises(RefusalError) as refused:
        await create_token(desk, asha, TokenBody(name="mine", role="admin"))
    assert refused.value.refusal is ROLE_TOO_LOW
