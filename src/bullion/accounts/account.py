"""A client's account, with the switches that stand in front of its API."""

import msgspec


class Account(msgspec.Struct, frozen=True, gc=False):
    """There may be very many in memory: it is small, and nothing in it needs the garbage collector."""

    id: int
    broker: str
    login_id: str
    firm_name: str | None
    group: str
    active: bool
    api_access: bool
    production_trading: bool
    scenarios: bool = False
    """Whether it may ask the test environment for answers that are made up."""
