"""Second factors of the desk's users, their recovery codes, and who needs one."""

from collections.abc import Iterable

from bullion.records.second_factor import FactorRule, SecondFactor

from .desk_transaction import DeskTransaction
from .engine import Row, one_row


class FactorRecords(DeskTransaction):
    async def second_factor(self, user_id: str) -> SecondFactor | None:
        row = await self._find("one_second_factor", user_id)
        return None if row is None else _factor(row)

    async def second_factors(self) -> list[SecondFactor]:
        return [_factor(row) for row in await self._transaction.all("all_second_factors")]

    async def put_unconfirmed_factor(self, user_id: str, encrypted_secret: str, secret_id: str) -> None:
        """Replaces one that is not confirmed; leaves one that is."""
        await self._transaction.run(
            "put_unconfirmed_factor", user_id, encrypted_secret, secret_id, await self.now_us()
        )

    async def confirm_factor(self, factor: SecondFactor, step: int, code_hashes: Iterable[str]) -> bool:
        """Put it into force with its recovery codes. False if it was confirmed or replaced meanwhile."""
        user_id, encrypted = factor.user_id, factor.encrypted_secret
        if (
            await self._transaction.one("confirm_factor", user_id, await self.now_us(), step, encrypted)
            is None
        ):
            return False
        await self._transaction.run("delete_recovery_codes", user_id)
        for code_hash in sorted(code_hashes):
            await self._transaction.run("insert_recovery_code", user_id, code_hash)
        return True

    async def use_factor_step(self, user_id: str, step: int) -> bool:
        """False if a code of this step, or a later one, was used before."""
        return await self._transaction.one("use_factor_step", user_id, step) is not None

    async def use_recovery_code(self, user_id: str, code_hash: str) -> bool:
        """False if there is no such code, or it was used before."""
        return await self._transaction.one("use_recovery_code", user_id, code_hash) is not None

    async def count_recovery_codes(self, user_id: str) -> int:
        return int((await one_row(self._transaction, "count_recovery_codes", user_id))["total"])

    async def delete_second_factor(self, user_id: str) -> None:
        """Sessions that showed a code of it have to show one of the next, if there is one."""
        await self._transaction.run("delete_recovery_codes", user_id)
        await self._transaction.run("delete_second_factor", user_id)
        await self._transaction.run("ask_sessions_for_code_again", user_id)

    async def reencrypt_factor(self, factor: SecondFactor, encrypted_secret: str, secret_id: str) -> None:
        await self._transaction.run(
            "reencrypt_factor", factor.user_id, factor.encrypted_secret, encrypted_secret, secret_id
        )

    async def factor_rule(self, broker: str) -> FactorRule:
        row = await self._transaction.one("one_second_factor_rule", broker)
        return FactorRule.OFF if row is None else FactorRule(row["required"])

    async def put_factor_rule(self, broker: str, rule: FactorRule) -> None:
        await self._transaction.run("put_second_factor_rule", broker, rule.value)


def _factor(row: Row) -> SecondFactor:
    return SecondFactor(
        user_id=row["user_id"],
        encrypted_secret=row["encrypted_secret"],
        secret_id=row["secret_id"],
        confirmed_at_us=row["confirmed_at_us"],
    )
