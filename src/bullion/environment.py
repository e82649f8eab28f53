"""The two environments of the specification: simulated orders and real ones."""

from enum import StrEnum


class Environment(StrEnum):
    TEST = "test"
    PRODUCTION = "production"

    @property
    def base_path(self) -> str:
        return _BASE_PATHS[self]


TEST, PRODUCTION = Environment
"""For code that every call runs: to look a member up in its class costs more than a call of a function."""

_BASE_PATHS = {TEST: "/api/trading/test/v1", PRODUCTION: "/api/trading/v1"}
