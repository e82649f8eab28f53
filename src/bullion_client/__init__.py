"""The client for the Bullion trading API: gold and silver by weight.

    from bullion_client import Client

    with Client("https://trading.example", api_key) as client:
        print(client.me().login_id)

`AsyncClient` is the same with `async with` and `await`. Everything that can go wrong with a call is a
`BullionError`; the module `bullion_client.errors` draws the tree.
"""

from bullion_client.account import Account
from bullion_client.client import AsyncClient, Client
from bullion_client.environment import Environment
from bullion_client.errors import (
    AccessRefused,
    BudgetRefused,
    BullionError,
    CredentialRefused,
    NoAnswer,
    Refusal,
    RequestRefused,
    Unavailable,
    UnexpectedAnswer,
)
from bullion_client.version import __version__

__all__ = [
    "AccessRefused",
    "Account",
    "AsyncClient",
    "BudgetRefused",
    "BullionError",
    "Client",
    "CredentialRefused",
    "Environment",
    "NoAnswer",
    "Refusal",
    "RequestRefused",
    "Unavailable",
    "UnexpectedAnswer",
    "__version__",
]
