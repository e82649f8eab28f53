"""Our own service keeps all that the kit can check; with fewer means the kit checks less.

In a campaign on both stacks, otherwise on PostgreSQL.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bullion_conformance.check import Phase
from bullion_conformance.checks import CHECKS
from bullion_conformance.command import conformance
from bullion_conformance.context import Setup
from bullion_conformance.pace import REFUSALS
from bullion_conformance.requirement import REQUIREMENTS, Profile
from bullion_conformance.samples import SHARED_ORDERS
from bullion_conformance.setup import Given, open_setup
from bullion_conformance.verdict import Verdict
from tests.conformance.conftest import checked, with_desk
from tests.support.node import DESK_TOKEN, DeskClient, Node, running
from tests.support.orders import GOLD, SILVER, UNBOUNDED
from tests.support.scale import SCALE
from tests.support.stacks import STACKS, stack

ONLY_WHERE_CLOSED = {"errors.reason.deploy", "bullion.webhooks.inside"}
NEEDS_FIFTY_ORDERS = {"list.limit.default"}


@pytest.fixture(params=STACKS if SCALE > 1 else ["postgres"])
def whole_node(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Node]:
    settings = {"BULLION_PRODUCTION": "on", "BULLION_WEBHOOK_ALLOW_PRIVATE": "on"}
    with running(tmp_path, **settings, **stack(request.param, request)) as node:
        yield node


def kit(*words: str, **variables: str) -> Result:
    environment = {f"CONFORMANCE_{name}": value for name, value in variables.items()}
    return CliRunner(env=environment).invoke(conformance, list(words))


def test_everything_that_can_be_checked_is_kept(whole_node: Node, tmp_path: Path) -> None:
    """With the desk, budgets raised and used up, production open: no check that is left out is overlooked."""
    page, data = tmp_path / "report.html", tmp_path / "report.json"
    done = kit(
        *("--profile", "bullion", "--quick", "--burn-budgets", "--html", f"{page}", "--json", f"{data}"),
        BASE_URL=whole_node.api_url,
        DESK_URL=whole_node.desk_url,
        DESK_TOKEN=DESK_TOKEN,
    )
    report = json.loads(data.read_text("utf-8"))
    wrong = {
        each["id"]: each["why"] for each in report["requirements"] if each["verdict"] in ("failed", "error")
    }
    assert wrong == {}
    assert done.exit_code == 0, done.output
    assert _ids(report, "passed") == set(CHECKS) - ONLY_WHERE_CLOSED
    assert _ids(report, "not checked") == set(REQUIREMENTS) - set(CHECKS) | ONLY_WHERE_CLOSED
    assert report["counts"] == {"passed": 358, "failed": 0, "not checked": 27, "error": 0}
    assert report["answered_429_unasked"] == 0
    for each in report["requirements"]:
        assert each["verdict"] == "not checked" or each["exchanges"], each["id"]
    _keeps_secrets(data.read_text("utf-8"))
    _keeps_secrets(page.read_text("utf-8"))
    _keeps_secrets(done.output)
    _is_left_in_order(whole_node)


def _ids(report: dict[str, Any], verdict: str) -> set[str]:
    return {each["id"] for each in report["requirements"] if each["verdict"] == verdict}


def _keeps_secrets(text: str) -> None:
    assert DESK_TOKEN not in text
    assert not re.search(r"key_(test|live)\.[^…\s\"<.]", text), "a key is in the report"
    assert not re.search(r"desk\.[0-9a-f]{16}\.", text), "a token is in the report"


def _is_left_in_order(node: Node) -> None:
    """What the kit made can be reached by nobody, and the default broker is as it was."""
    with node.desk() as desk:
        brokers = desk.do("GET", "/brokers")["items"]
        assert [broker["hosts"] for broker in brokers if broker["tag"].startswith("conformance-")] == [[], []]
        assert desk.do("GET", "/switches")["production"] is False
        assert desk.do("GET", "/accounts")["total"] == 0


# --- Without production, without a desk, without a live key ---------------------------------------------


def test_on_a_closed_deployment_the_reason_is_seen(closed_node: Node) -> None:
    with open_setup(with_desk(closed_node)) as setup:
        report = checked(setup, "errors.reason", "transitions", "overview.production.closed")
    verdicts = {finding.requirement.id: finding for finding in report.findings}
    assert verdicts["errors.reason.deploy"].verdict is Verdict.PASSED
    assert verdicts["overview.production.closed"].verdict is Verdict.PASSED
    others = [each for id_, each in verdicts.items() if id_.startswith(("transitions", "errors.reason.a"))]
    assert {each.verdict for each in others} == {Verdict.NOT_CHECKED}
    assert {each.why for each in others} == {
        "production is closed here: an order was answered 403 production_trading_disabled"
    }
    assert len(others) == 10


def test_on_a_strict_deployment_webhooks_lead_outside_only(closed_node: Node) -> None:
    with open_setup(with_desk(closed_node)) as setup:
        report = checked(setup, "bullion.webhooks", profile=Profile.BULLION)
    verdicts = {finding.requirement.id: finding.verdict for finding in report.findings}
    assert verdicts.pop("bullion.webhooks.sent") is Verdict.NOT_CHECKED
    assert set(verdicts.values()) == {Verdict.PASSED}
    assert "bullion.webhooks.inside" in verdicts


@pytest.fixture
def client_keys(closed_node: Node) -> tuple[str, str]:
    """A test and a live key of a client, whose budgets are wide, so that the test need not wait."""
    with closed_node.desk() as desk:
        desk.add_group()
        desk.do("PUT", "/symbols/GOLD", GOLD)
        desk.do("PUT", "/symbols/SILVER", SILVER)
        desk.do("PATCH", "/switches", {"budgets": UNBOUNDED | {"failed_auth_per_minute": 1000}})
        return _key(desk, "test"), _key(desk, "production")


def _key(desk: DeskClient, environment: str) -> str:
    login_id = f"client-of-{environment}"
    desk.account(login_id, allocation={"gold": "1000", "silver": "1000"})
    key: str = desk.key(login_id, environment)["key"]
    return key


def test_with_keys_alone_the_rest_is_honestly_not_checked(
    closed_node: Node, client_keys: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    test_key, live_key = client_keys
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    with open_setup(Given(closed_node.api_url, key=test_key)) as setup:
        report = checked(setup)
        _estimate_is_honest(setup)
    wrong = {finding.requirement.id: finding.why for finding in report.findings if finding.verdict in WRONG}
    assert wrong == {}
    assert report.count(Verdict.PASSED) == 108
    assert report.throttled == 0
    assert slept == []
    whys = {finding.why for finding in report.findings if finding.requirement.id in CHECKS and finding.why}
    assert whys == {
        "it needs the desk",
        "it needs the desk, with production open",
        "it needs a live key, or the desk",
        "it uses up a budget; add --burn-budgets",
        "the account has 19 orders, and a page without `limit` holds 50",
        "this run had no production order",
        "this run had no refusal of that kind",
    }
    with open_setup(Given(closed_node.api_url, key=test_key, live_key=live_key)) as setup:
        more = checked(setup, *(each.requirement.id for each in report.findings if "live key" in each.why))
        assert {
            exchange.method for exchange in setup.connection.seen if exchange.environment == "production"
        } == {"GET"}
    assert [finding.why for finding in more.findings if finding.verdict is not Verdict.PASSED] == []
    assert len(more.findings) == 10


WRONG = (Verdict.FAILED, Verdict.ERROR)


def _estimate_is_honest(setup: Setup) -> None:
    """No more orders and refusals were sent than the checks say that they send."""
    sent = [exchange for exchange in setup.connection.seen if exchange.method == "POST"]
    refusals = sum(exchange.status == 401 for exchange in setup.connection.seen)
    made = [check for check in CHECKS.values() if check.need.value in ("nothing", "a test key")]
    assert len(sent) <= sum(check.orders for check in made) + SHARED_ORDERS
    assert refusals <= sum(check.refusals for check in made if check.phase is Phase.REFUSED)
    assert refusals < REFUSALS[0][0]


def test_bullions_own_rules_are_asked_only_when_named(shared_means: Setup) -> None:
    report = checked(shared_means, "bullion.unknown-field", "order.id")
    assert [finding.requirement.id for finding in report.findings] == ["order.id"]
    report = checked(shared_means, "bullion.unknown-field", "order.id", profile=Profile.BULLION)
    assert [finding.requirement.id for finding in report.findings] == ["order.id", "bullion.unknown-field"]
