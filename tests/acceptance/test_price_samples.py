"""A running service samples prices by itself, and keeps what it sampled when it stops."""

from functools import partial
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.support.desk import SYMBOL, first_caller
from tests.support.node import Node, running, until
from tests.support.production import store_says

TASK = "bullion_task_success_timestamp_seconds"


def sampled_at(node: Node) -> float:
    with first_caller(node) as desk:
        families = text_string_to_metric_families(desk.get(f"{node.desk_url}/metrics").text)
    samples = [sample for family in families if family.name == TASK for sample in family.samples]
    return max((each.value for each in samples if each.labels["task"] == "rate_samples"), default=0.0)


def has_sampled_since(node: Node, at: float) -> bool:
    return sampled_at(node) > at


def test_samples_survive_a_restart(tmp_path: Path) -> None:
    for bid in ("71000", "70000"):
        with running(tmp_path, BULLION_FEED="desk") as node:
            with first_caller(node) as desk:
                desk.do("PUT", "/symbols/GOLD", {**SYMBOL, "rate_age_s_max": None, "freeze_after_s": None})
                desk.do("PUT", "/rates/GOLD", {"bid": bid, "ask": bid})
            begun = sampled_at(node)
            # Two turns: one may have begun before the rate was there.
            until(partial(has_sampled_since, node, begun + 1.5), within_s=20)
    # Without times: a day may end while the test runs.
    (stored,) = store_says(node, "SELECT max(high_e4), min(low_e4) FROM rate_candles WHERE step = 'day'")
    assert stored == ("710000000", "700000000")
