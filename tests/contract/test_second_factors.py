"""Second factors in the store: set up, each code accepted once, reset, required, and under another secret."""

import asyncio
from typing import Any

import pytest

from bullion.budgets.memory import MemoryLimiter
from bullion.console.sessions import Sessions
from bullion.desk.actions.second_factors import get_factor_rule, put_factor_rule, reset_second_factor
from bullion.desk.actions.tokens import create_token, delete_token, get_token
from bullion.desk.bodies import FactorRuleBody, TokenBody
from bullion.desk.desk import Desk
from bullion.desk.identities import Identities
from bullion.desk.second_factors import SecondFactors
from bullion.keys.encryption import Cipher
from bullion.keys.hashing import Hasher
from bullion.keys.totp import STEP_S, code_at
from bullion.records.session import Stage
from bullion.records.token import Actor
from bullion.refusals.desk import CODE_REQUIRED, CONFLICT, NOT_FOUND, TOO_MANY_CODES
from bullion.refusals.refusal import RefusalCode, RefusalError
from bullion.store.engine import Engine
from tests.booking.fixtures import rows

from .desk_over import ADMIN

pytestmark = pytest.mark.anyio


def factors_of(desk: Desk, secret: bytes = b"secret", other: bytes | None = None) -> SecondFactors:
    """With a limiter of its own: as another console, or after the wait."""
    return SecondFactors(desk, Cipher(secret, "factor", other), MemoryLimiter())


async def user(desk: Desk, role: str = "dealer") -> Actor:
    made = await create_token(desk, ADMIN, TokenBody(name="Asha", role=role))  # type: ignore[arg-type]
    found = await Identities(desk.store, desk.token_hasher, "main", None).actor(made["token"])
    assert found is not None
    return found


async def code_of(desk: Desk, actor: Actor, off: int = 0, *, secret: bytes = b"secret") -> str:
    """What the user's app shows now, or some steps later."""

    async def read(records: Any) -> tuple[str, int]:
        factor = await records.second_factor(actor.user_id)
        return factor.encrypted_secret, await records.now_us()

    encrypted, now_us = await desk.store.read("factor", read)
    plain = Cipher(secret, "factor").decrypt(encrypted, actor.user_id)
    return code_at(plain, now_us // (STEP_S * 1_000_000) + off)


async def enrolled(desk: Desk, role: str = "dealer") -> tuple[Actor, list[str]]:
    """A user who has not used a code for a minute, so that the current one is free."""
    actor, factors = await user(desk, role), factors_of(desk)
    await factors.begin(actor)
    codes = await factors.confirm(actor, await code_of(desk, actor))
    await rows(desk.store._engine, "UPDATE second_factors SET last_step = last_step - 2")
    return actor, codes


async def refused(coroutine: Any, expected: RefusalCode) -> None:
    with pytest.raises(RefusalError) as error:
        await coroutine
    assert error.value.refusal is expected


async def test_it_is_on_after_the_first_code(desk: Desk) -> None:
    actor, factors = await user(desk), factors_of(desk)
    await factors.begin(actor)
    status = await factors.status(actor, "Shree")
    assert status.setup is not None
    assert f"secret={status.setup.secret}" in status.setup.address
    assert not await factors.is_on(actor)
    await refused(
        factors.confirm(actor, "000000" if await code_of(desk, actor) != "000000" else "1"), CODE_REQUIRED
    )
    assert not await factors.is_on(actor)
    codes = await factors.confirm(actor, await code_of(desk, actor))
    assert len(set(codes)) == 10
    status = await factors.status(actor, "Shree")
    assert (status.on, status.recovery_codes, status.setup) == (True, 10, None)
    assert actor.token_id is not None
    assert (await get_token(desk, ADMIN, actor.token_id))["second_factor"] is True


async def test_a_code_works_once(desk: Desk) -> None:
    actor, _ = await enrolled(desk)
    code = await code_of(desk, actor)
    await factors_of(desk).verify(actor, f" {code[:3]} {code[3:]} ")
    await refused(factors_of(desk).verify(actor, code), CODE_REQUIRED)
    # Nor one of an earlier step, which would still be in the window.
    await refused(factors_of(desk).verify(actor, await code_of(desk, actor, -1)), CODE_REQUIRED)
    await factors_of(desk).verify(actor, await code_of(desk, actor, 1))


async def test_of_many_at_once_one_gets_in(desk: Desk) -> None:
    actor, codes = await enrolled(desk)
    for code in (await code_of(desk, actor), codes[0]):
        tries = [factors_of(desk).verify(actor, code) for _ in range(8)]
        done = await asyncio.gather(*tries, return_exceptions=True)
        assert [each for each in done if each is None] == [None]
        assert all(isinstance(each, RefusalError) for each in done if each is not None)


async def test_a_recovery_code_works_once_however_it_is_typed(desk: Desk) -> None:
    actor, codes = await enrolled(desk)
    await factors_of(desk).verify(actor, codes[0].lower().replace("-", " "))
    await refused(factors_of(desk).verify(actor, codes[0]), CODE_REQUIRED)
    other, _ = await enrolled(desk)
    await refused(factors_of(desk).verify(other, codes[1]), CODE_REQUIRED)
    assert (await factors_of(desk).status(actor, "")).recovery_codes == 9
    newest = await desk.read(ADMIN, "audit", lambda records: records.audit_after("main", 0, 100))
    assert "use_recovery_code" in [entry.action for entry in newest]


async def test_codes_cannot_be_tried_for_long(desk: Desk) -> None:
    actor, codes = await enrolled(desk)
    factors = factors_of(desk)
    tries = [factors.verify(actor, "wrong") for _ in range(20)]
    found = await asyncio.gather(*tries, return_exceptions=True)
    told = [each.refusal for each in found if isinstance(each, RefusalError)]
    assert told.count(CODE_REQUIRED) == 5
    assert told.count(TOO_MANY_CODES) == 15
    await refused(factors.verify(actor, codes[0]), TOO_MANY_CODES)
    # Others are not held up.
    other, others = await enrolled(desk)
    await factors.verify(other, others[0])


async def test_the_store_has_neither_secret_nor_codes(desk: Desk, engine: Engine) -> None:
    actor = await user(desk)
    await factors_of(desk).begin(actor)
    status = await factors_of(desk).status(actor, "")
    codes = await factors_of(desk).confirm(actor, await code_of(desk, actor))
    assert status.setup is not None
    kept = ""
    for table in ("second_factors", "recovery_codes", "audit", "desk_sessions"):
        kept += str([list(row) for row in await rows(engine, f"SELECT * FROM {table}")])
    for secret in (status.setup.secret, *codes, *(code.replace("-", "") for code in codes)):
        assert secret not in kept


async def test_another_key_can_be_made_until_it_is_confirmed(desk: Desk) -> None:
    actor, factors = await user(desk), factors_of(desk)
    await factors.begin(actor)
    old = await code_of(desk, actor)
    await factors.begin(actor)
    await refused(factors.confirm(actor, old), CODE_REQUIRED)
    await factors.confirm(actor, await code_of(desk, actor))
    # Then no longer: who has an open browser must not replace the factor.
    await factors.begin(actor)
    assert await factors.is_on(actor)
    await refused(factors.confirm(actor, await code_of(desk, actor)), CONFLICT)
    await factors_of(desk).verify(actor, await code_of(desk, actor, 1))


async def test_the_user_turns_it_off_with_a_code(desk: Desk) -> None:
    actor, codes = await enrolled(desk)
    await refused(factors_of(desk).turn_off(actor, "wrong"), CODE_REQUIRED)
    assert await factors_of(desk).is_on(actor)
    await factors_of(desk).turn_off(actor, codes[0])
    assert not await factors_of(desk).is_on(actor)
    await refused(factors_of(desk).verify(actor, codes[1]), CODE_REQUIRED)


async def test_an_admin_resets_it_and_sessions_end(desk: Desk) -> None:
    actor, _ = await enrolled(desk)
    assert actor.token_id is not None
    sessions = _sessions(desk)
    cookie = sessions.cookie(await sessions.begin(actor, second_factor=True))
    assert await _sessions(desk).find(cookie) is not None
    await reset_second_factor(desk, ADMIN, actor.token_id)
    assert not await factors_of(desk).is_on(actor)
    assert await _sessions(desk).find(cookie) is None
    await refused(reset_second_factor(desk, ADMIN, "0" * 16), NOT_FOUND)
    await refused(reset_second_factor(desk, actor_of_first(first=False), "first"), NOT_FOUND)
    await reset_second_factor(desk, actor_of_first(first=True), "first")


def actor_of_first(*, first: bool) -> Actor:
    return Actor("somebody", ADMIN.role, "main", first=first)


async def test_a_deleted_user_leaves_no_factor(desk: Desk, engine: Engine) -> None:
    actor, _ = await enrolled(desk)
    assert actor.token_id is not None
    await delete_token(desk, ADMIN, actor.token_id)
    assert await rows(engine, "SELECT * FROM second_factors") == []
    assert await rows(engine, "SELECT * FROM recovery_codes") == []


def _sessions(desk: Desk) -> Sessions:
    identities = Identities(desk.store, desk.token_hasher, "main", None)
    return Sessions(desk.store, identities, Hasher(b"s", "console"), "c", lasts_s=3600, idle_s=600)


async def _stage(desk: Desk, actor: Actor, *, second_factor: bool = False) -> Stage:
    sessions = _sessions(desk)
    found = await sessions.find(sessions.cookie(await sessions.begin(actor, second_factor=second_factor)))
    assert found is not None
    return found.stage


async def test_who_has_one_needs_the_code_and_who_needs_one_has_to_set_it_up(desk: Desk) -> None:
    plain, admin = await user(desk), await user(desk, "admin")
    has, _ = await enrolled(desk)
    assert await _stage(desk, has) is Stage.CODE
    assert await _stage(desk, has, second_factor=True) is Stage.OPEN
    for rule, stages in {
        "off": (Stage.OPEN, Stage.OPEN),
        "admins": (Stage.OPEN, Stage.ENROL),
        "all": (Stage.ENROL, Stage.ENROL),
    }.items():
        await put_factor_rule(desk, ADMIN, FactorRuleBody(required=rule))  # type: ignore[arg-type]
        assert await get_factor_rule(desk, ADMIN) == {"required": rule}
        assert (await _stage(desk, plain), await _stage(desk, admin)) == stages
        assert await _stage(desk, has, second_factor=True) is Stage.OPEN
    assert (await factors_of(desk).status(plain, "")).required
    await refused(factors_of(desk).turn_off(has, await code_of(desk, has)), CONFLICT)


async def test_it_is_read_with_both_secrets_and_encrypted_anew_when_it_is_used(
    desk: Desk, engine: Engine
) -> None:
    actor, codes = await enrolled(desk)
    new = Cipher(b"another", "factor").secret_id
    await rows(engine, "DELETE FROM deployment WHERE name = 'secret_fingerprint'")
    await rows(engine, f"INSERT INTO deployment (name, value) VALUES ('secret_fingerprint', '{new}')")
    await refused(factors_of(desk, b"another").verify(actor, codes[0]), CONFLICT)
    await factors_of(desk, b"another", b"secret").verify(actor, await code_of(desk, actor))
    (row,) = await rows(engine, "SELECT secret_id FROM second_factors")
    assert row["secret_id"] == new
    # Also the recovery codes need the old secret no longer.
    await factors_of(desk, b"another").verify(actor, codes[0])
