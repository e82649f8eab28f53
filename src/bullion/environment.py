"""The two environments of the specification: simulated orders and real ones."""

from enum import StrEnum


class Environment(StrEnum):
    TEST = "test"
    PRODUCTION = "production"

    @property
    def base_path(self) -> str:
        return _BASE_PATHS[self]


_BASE_PATHS = {
    Environment.TEST: "/api/trading/test/v1",
    Environment.PRODUCTION: "/api/trading/v1",
}
