"""A node that is killed at any moment while its clients flood it, again and again on the same store.

`TEST_SCALE` multiplies the number of kills, for a campaign.
"""

import random
import signal
import time
from pathlib import Path

import pytest

from tests.support.node import running, start
from tests.support.scale import SCALE
from tests.support.stacks import STACKS, stack

from .fixtures import Deployment, flood, together

KILLS = 2 * SCALE
CAMPAIGN = SCALE > 1
ORDERS = 8 if CAMPAIGN else 5


@pytest.mark.parametrize("name", STACKS)
def test_a_node_killed_at_any_moment_loses_nothing(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    seed = random.randrange(1 << 32) if CAMPAIGN else 7  # noqa: S311
    print(f"seed {seed}")
    chance = random.Random(seed)  # noqa: S311
    deployment = Deployment(tmp_path, stack(name, request), seed)
    with running(tmp_path, **deployment.settings) as first:
        deployment.set_up(first)
        deployment.wishes(1)
        deployment.learn_all(first)
    for _ in range(KILLS):
        node = start(tmp_path, **deployment.settings)
        try:
            # What earlier nodes left unfinished is settled while the next orders are under way.
            programs = [(node, wishes) for wishes in deployment.wishes(ORDERS)]
            after_s = chance.uniform(0.05, 1.5)

            def kill(node=node, after_s=after_s) -> None:  # type: ignore[no-untyped-def]
                time.sleep(after_s)
                node.process.kill()

            together([lambda programs=programs: flood([*programs, programs[0]]), kill])
            assert node.process.wait(timeout=30) == -signal.SIGKILL
        finally:
            node.stop(signal.SIGKILL)
        deployment.check(dead=True)
    with running(tmp_path, **deployment.settings) as last:
        deployment.learn_all(last)
        deployment.settle(last)
        deployment.conclude(last)
