"""Alarms and the dashboard for lines and live rates: each alarm has a test and an explanation."""

import json
import re

from tests.docs.markdown import ROOT, anchors
from tests.support.prometheus import metric_names

RULES = ROOT / "deploy/prometheus/market-alerts.yml"
PAGES = [ROOT / "docs" / name for name in ("fix.md", "feeds.md", "desk.md")]
ALERTS = dict(re.findall(r"- alert: (\w+)\n +expr: (.+)\n", RULES.read_text("utf-8")))


def test_every_alarm_has_a_test_and_an_explanation() -> None:
    tests = RULES.with_suffix(".test.yml").read_text("utf-8")
    assert len(ALERTS) == 4
    assert all(name in tests for name in ALERTS)
    told = re.findall(r"(?m)^\| `(Bullion\w+)` \|", PAGES[0].read_text("utf-8"))
    assert told == list(ALERTS)
    for page in re.findall(r"handbook: (\S+)", RULES.read_text("utf-8")):
        path, _, anchor = page.partition("#")
        assert not anchor or anchor in anchors(ROOT / path), page


def test_alarms_and_panels_read_metrics_that_are_documented() -> None:
    documented = {
        name for page in PAGES for name in re.findall(r"`(bullion_[a-z_]+)`", page.read_text("utf-8"))
    }
    dashboard = json.loads((ROOT / "deploy/grafana/market.json").read_text("utf-8"))
    shown = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    assert len(shown) > 15
    for query in [*shown, *ALERTS.values()]:
        assert metric_names(query) <= documented, query
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)
