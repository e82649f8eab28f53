"""The second factor of a user of the console: set up, checked at log-in, and turned off again."""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from bullion.budgets.limiter import Charge, Limiter, Throttled
from bullion.keys.encryption import Cipher, NotDecryptable
from bullion.keys.totp import SECRET_BYTES, app_address, matching_step, secret_text
from bullion.records.second_factor import SecondFactor, new_recovery_codes, recovery_code_hash
from bullion.records.token import Actor
from bullion.refusals.desk import CODE_REQUIRED, CONFLICT, TOO_MANY_CODES
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

from .desk import ChangeResult, Desk

_TRIES_MAX = 5
_TRIES_WINDOW_S = 300

_log = structlog.get_logger("desk")


@dataclass(frozen=True, slots=True)
class Setup:
    """What a user enters into an authenticator app."""

    secret: str
    address: str


@dataclass(frozen=True, slots=True)
class FactorStatus:
    on: bool
    required: bool
    """By the broker's rule, for the user's role."""
    recovery_codes: int
    setup: Setup | None
    """Begun, and not confirmed by a code yet."""


@dataclass(frozen=True, slots=True)
class SecondFactors:
    desk: Desk
    cipher: Cipher
    limiter: Limiter

    async def status(self, actor: Actor, issuer: str) -> FactorStatus:
        async def read(records: Records) -> tuple[SecondFactor | None, bool, int]:
            rule = await records.factor_rule(actor.broker)
            codes = await records.count_recovery_codes(actor.user_id)
            return await records.second_factor(actor.user_id), rule.requires(actor.role), codes

        factor, required, codes = await self.desk.read(actor, "second_factor", read)
        on = factor is not None and factor.confirmed_at_us is not None
        setup = None
        if factor is not None and not on:
            secret = self._secret(factor)
            name = actor.name.partition(" (")[0]
            setup = Setup(secret_text(secret), app_address(secret, issuer, name))
        return FactorStatus(on, required, codes, setup)

    async def is_on(self, actor: Actor) -> bool:
        factor = await self._read(actor)
        return factor is not None and factor.confirmed_at_us is not None

    async def begin(self, actor: Actor) -> None:
        """Make a new secret. It is not in force before the user has confirmed it with a code."""
        encrypted = self.cipher.encrypt(secrets.token_bytes(SECRET_BYTES), actor.user_id)

        async def work(records: Records) -> None:
            await records.put_unconfirmed_factor(actor.user_id, encrypted, self.cipher.secret_id)

        await self.desk.store.write("begin_second_factor", work, catalogue=False)

    async def confirm(self, actor: Actor, code: str) -> list[str]:
        """Put the second factor into force. Returns the recovery codes, which are shown once."""
        factor = await self._read(actor)
        if factor is None or factor.confirmed_at_us is not None:
            raise RefusalError(CONFLICT, "There is no second factor to confirm. Start again.")
        secret, codes = self._secret(factor), new_recovery_codes()
        hashes = [recovery_code_hash(each, secret) for each in codes]

        async def work(records: Records) -> ChangeResult:
            step = matching_step(secret, _plain(code), await records.now_us())
            if step is None:
                raise RefusalError(CODE_REQUIRED)
            if not await records.confirm_factor(factor, step, hashes):
                raise RefusalError(CONFLICT, "The second factor was changed meanwhile. Start again.")
            return ChangeResult({"second_factor": False}, {"second_factor": True})

        await self._change(actor, work, "enrol_second_factor")
        return codes

    async def verify(self, actor: Actor, code: str) -> None:
        """Accept a one-time code or a recovery code, each once. Raises RefusalError for any other."""
        await self._count_try(actor)
        factor = await self._read(actor)
        if factor is None or factor.confirmed_at_us is None:
            raise RefusalError(CODE_REQUIRED)
        secret = self._secret(factor)
        if await self._use_code(actor, secret, _plain(code)):
            await self._reencrypt(factor, secret)
            return
        hashed = recovery_code_hash(code, secret)

        async def work(records: Records) -> ChangeResult:
            if not await records.use_recovery_code(actor.user_id, hashed):
                raise RefusalError(CODE_REQUIRED)
            return ChangeResult(None, {"recovery_codes": await records.count_recovery_codes(actor.user_id)})

        await self._change(actor, work, "use_recovery_code")

    async def turn_off(self, actor: Actor, code: str) -> None:
        """By the user, who proves it with a code."""
        if (await self.status(actor, "")).required:
            raise RefusalError(CONFLICT, "A second factor is required for your role. An admin can reset it.")
        await self.verify(actor, code)

        async def work(records: Records) -> ChangeResult:
            await records.delete_second_factor(actor.user_id)
            return ChangeResult({"second_factor": True}, {"second_factor": False})

        await self._change(actor, work, "remove_second_factor")

    async def _use_code(self, actor: Actor, secret: bytes, code: str) -> bool:
        async def work(records: Records) -> bool:
            step = matching_step(secret, code, await records.now_us())
            return step is not None and await records.use_factor_step(actor.user_id, step)

        return await self.desk.store.write("use_code", work, catalogue=False)

    async def _reencrypt(self, factor: SecondFactor, secret: bytes) -> None:
        """Its key followed from the other secret of the deployment, which is being exchanged."""
        if factor.secret_id == self.cipher.secret_id:
            return
        encrypted = self.cipher.encrypt(secret, factor.user_id)

        async def work(records: Records) -> None:
            await records.reencrypt_factor(factor, encrypted, self.cipher.secret_id)

        await self.desk.store.write("reencrypt_second_factor", work, catalogue=False)

    async def _read(self, actor: Actor) -> SecondFactor | None:
        return await self.desk.store.read(
            "second_factor", lambda records: records.second_factor(actor.user_id)
        )

    async def _change(
        self, actor: Actor, work: Callable[[Records], Awaitable[ChangeResult]], entry: str
    ) -> None:
        await self.desk.change(actor, actor.user_id, work, catalogue=False, entry=entry)

    def _secret(self, factor: SecondFactor) -> bytes:
        try:
            return self.cipher.decrypt(factor.encrypted_secret, factor.user_id)
        except NotDecryptable:
            _log.error("second_factor_unreadable", user=factor.user_id)
            raise RefusalError(
                CONFLICT, "Your second factor cannot be read. An admin has to reset it."
            ) from None

    async def _count_try(self, actor: Actor) -> None:
        """Before the code is looked at, so that codes cannot be tried side by side."""
        tries = Charge(f"desk codes {actor.user_id}", _TRIES_MAX, _TRIES_WINDOW_S)
        counted = await self.limiter.take(tries, failed=True)
        if isinstance(counted, Throttled):
            raise RefusalError(TOO_MANY_CODES, retry_after_s=counted.retry_after_s)


def _plain(code: str) -> str:
    return "".join(code.split())
