"""`GET {base}/me`: the account and the key behind the call."""

from bullion.accounts.account import Account
from bullion.accounts.switches import Switches
from bullion.booking.production import closed_by
from bullion.keys.key import Key, Scope
from bullion.web.answer import Answer, json_answer

from .request import Request

_KEPT_MAX = 10_000


class Me:
    """Keeps each key's answer for as long as nothing it is made of has changed.

    What the catalogue holds is never altered, only replaced: the same three values give the same answer.
    """

    def __init__(self, *, deploy_on: bool) -> None:
        self._deploy_on = deploy_on
        self._kept: dict[str, tuple[Key, Account, Switches, Answer]] = {}

    async def __call__(self, request: Request) -> Answer:
        caller = request.caller
        key, account, switches = caller.key, caller.account, caller.switches
        kept = self._kept.get(key.key_id)
        if kept is not None and kept[0] is key and kept[1] is account and kept[2] is switches:
            return kept[3]
        answer = json_answer(me(key, account, switches, deploy_on=self._deploy_on))
        if len(self._kept) >= _KEPT_MAX:
            self._kept.clear()
        self._kept[key.key_id] = (key, account, switches, answer)
        return answer


def me(key: Key, account: Account, switches: Switches, *, deploy_on: bool) -> dict[str, object]:
    return {
        "login_id": account.login_id,
        "firm_name": account.firm_name,
        "environment": key.environment.value,
        "key_id": key.key_id,
        "key_name": key.name,
        "scopes": [scope.value for scope in Scope if scope in key.scopes],
        "production_trading_available": production_trading_available(account, switches, deploy_on=deploy_on),
    }


def production_trading_available(account: Account, switches: Switches, *, deploy_on: bool) -> bool:
    """A hint that follows the switches alone: whether the hedge venue can be reached does not change it."""
    open_ = closed_by(account, switches, deploy_on=deploy_on) is None
    return open_ and not switches.paused and account.api_access
