"""A client's account, with the switches that stand in front of its API."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Account:
    id: int
    broker: str
    login_id: str
    firm_name: str | None
    group: str
    active: bool
    api_access: bool
    production_trading: bool
