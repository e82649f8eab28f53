"""Workers of one machine that are killed at any moment, while connections go from one to the other.

`TEST_SCALE` multiplies the number of kills, for a campaign.
"""

import os
import random
import signal
import time
from pathlib import Path

from tests.support.node import Node, running, until
from tests.support.processes import children
from tests.support.scale import SCALE
from tests.support.servers import Postgres, Redis

from .fixtures import Deployment, flood, together

KILLS = SCALE
CAMPAIGN = SCALE > 1
WORKERS = 2


def _kill(node: Node, chance: random.Random) -> None:
    time.sleep(chance.uniform(0.05, 1.0))
    victim = chance.choice(children(node.process.pid))
    os.kill(victim, signal.SIGKILL)
    until(lambda: any(entry["pid"] == victim for entry in node.entries("worker_ended")), within_s=60)


def test_a_worker_killed_at_any_moment_loses_nothing(
    postgres: Postgres, redis: Redis, schema_template: str, tmp_path: Path
) -> None:
    seed = random.randrange(1 << 32) if CAMPAIGN else 7  # noqa: S311
    print(f"seed {seed}")
    chance = random.Random(seed)  # noqa: S311
    settings = {
        "BULLION_DATABASE_URL": postgres.new_database(schema_template),
        "BULLION_REDIS_URL": redis.url,
        "BULLION_WORKERS": str(WORKERS),
    }
    deployment = Deployment(tmp_path, settings, seed)
    with running(tmp_path, **deployment.settings) as node:
        deployment.set_up(node)
        deployment.wishes(1)
        deployment.learn_all(node)
        for _ in range(KILLS):
            # Each client on two connections, which may begin at different workers.
            programs = [(node, wishes) for _ in range(2) for wishes in deployment.wishes(4)]
            together([lambda programs=programs: flood(programs), lambda: _kill(node, chance)])
        until(lambda: len(children(node.process.pid)) == WORKERS, within_s=60)
        deployment.learn_all(node)
        deployment.settle(node)
        deployment.conclude(node)
        assert len(node.entries("worker_ended")) == KILLS
