"""The two deployments that the acceptance tests run on."""

import pytest

from tests.support.servers import Postgres, Redis

STACKS = ["sqlite", "postgres"]


def stack(name: str, request: pytest.FixtureRequest) -> dict[str, str]:
    """The settings of a deployment: on a laptop, or with the servers that a broker runs in earnest."""
    if name == "sqlite":
        return {}
    postgres: Postgres = request.getfixturevalue("postgres")
    redis: Redis = request.getfixturevalue("redis")
    return {"BULLION_DATABASE_URL": postgres.new_database(), "BULLION_REDIS_URL": redis.url}
