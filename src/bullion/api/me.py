"""`GET {base}/me`: the account and the key behind the call."""

from bullion.accounts.account import Account
from bullion.accounts.switches import Switches
from bullion.keys.key import Scope
from bullion.web.answer import Answer, json_answer

from .gate import Caller


def me(caller: Caller, *, deploy_on: bool) -> Answer:
    key, account = caller.key, caller.account
    return json_answer(
        {
            "login_id": account.login_id,
            "firm_name": account.firm_name,
            "environment": key.environment.value,
            "key_id": key.key_id,
            "key_name": key.name,
            "scopes": [scope.value for scope in Scope if scope in key.scopes],
            "production_trading_available": production_trading_available(
                account, caller.switches, deploy_on=deploy_on
            ),
        }
    )


def production_trading_available(account: Account, switches: Switches, *, deploy_on: bool) -> bool:
    """A hint that follows the switches alone: whether the hedge venue can be reached does not change it."""
    return (
        deploy_on
        and switches.production
        and not switches.paused
        and account.api_access
        and account.production_trading
    )
