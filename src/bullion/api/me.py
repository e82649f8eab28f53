"""`GET {base}/me`: the account and the key behind the call."""

from bullion.accounts.account import Account
from bullion.accounts.switches import Switches
from bullion.booking.production import closed_by
from bullion.keys.key import Key, scope_names
from bullion.web.response import Response, json_response

from .request import Request
from .wire import account as wire


class Me:
    def __init__(self, *, deploy_on: bool) -> None:
        self._deploy_on = deploy_on

    async def __call__(self, request: Request) -> Response:
        caller = request.caller
        return json_response(me(caller.key, caller.account, caller.switches, deploy_on=self._deploy_on))


def me(key: Key, account: Account, switches: Switches, *, deploy_on: bool) -> wire.Account:
    return wire.Account(
        login_id=account.login_id,
        firm_name=account.firm_name,
        environment=key.environment,
        key_id=key.key_id,
        key_name=key.name,
        scopes=list(scope_names(key.scopes)),
        production_trading_available=production_trading_available(account, switches, deploy_on=deploy_on),
    )


def production_trading_available(account: Account, switches: Switches, *, deploy_on: bool) -> bool:
    """A hint, computed from the switches only. It ignores whether the hedge venue can be reached."""
    open_ = closed_by(account, switches, deploy_on=deploy_on) is None
    return open_ and not switches.paused and account.api_access
