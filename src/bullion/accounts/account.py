"""A client's account, with its switches."""

import msgspec


class Account(msgspec.Struct, frozen=True, gc=False):
    """Small, and not tracked by the garbage collector: there may be very many in memory."""

    id: int
    broker: str
    login_id: str
    firm_name: str | None
    group: str
    active: bool
    api_access: bool
    production_trading: bool
    scenarios: bool = False
    """Whether it may ask the test environment for simulated answers."""
