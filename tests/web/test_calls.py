"""What the call log counts is what the metrics show."""

from prometheus_client import CollectorRegistry, generate_latest

from bullion.refusals.catalogue import CATALOGUE
from bullion.web.calls import Call, CallLog


def shown(registry: CollectorRegistry) -> dict[str, float]:
    lines = generate_latest(registry).decode().splitlines()
    return {
        name: float(value) for name, _, value in (line.rpartition(" ") for line in lines) if name[:1] != "#"
    }


ME = "/api/trading/test/v1/me"


def call(route: str, status: int, ms: float, code: str | None = None, method: str = "GET") -> Call:
    return Call(b"id", method, route, status=status, ms=ms, code=code)


def test_calls_seconds_and_refusals_are_published() -> None:
    registry = CollectorRegistry()
    call_log = CallLog(registry, log_all=False)
    for ms in (0.4, 0.5, 0.6, 30.0, 1290.0, 19000.0):
        call_log.add(call(ME, 200, ms))
    call_log.add(call(ME, 401, 0.1, "missing_credential"))
    call_log.publish()
    call_log.add(call(ME, 200, 0.4))
    call_log.publish()
    call_log.publish()
    found = shown(registry)
    labels = f'method="GET",route="{ME}"'
    assert found[f'bullion_calls_total{{environment="test",{labels},status="200"}}'] == 7
    assert found[f'bullion_calls_total{{environment="test",{labels},status="401"}}'] == 1
    assert found['bullion_refusals_total{code="missing_credential",environment="test"}'] == 1
    for bound, number in {
        "0.0005": 4,
        "0.001": 5,
        "0.05": 6,
        "1.0": 6,
        "2.0": 7,
        "10.0": 7,
        "+Inf": 8,
    }.items():
        assert found[f'bullion_call_seconds_bucket{{le="{bound}",{labels}}}'] == number
    assert found[f"bullion_call_seconds_count{{{labels}}}"] == 8
    assert abs(found[f"bullion_call_seconds_sum{{{labels}}}"] - 20.3220) < 1e-9


def test_methods_and_environments_are_told_apart() -> None:
    registry = CollectorRegistry()
    call_log = CallLog(registry, log_all=False)
    orders = "/api/trading/v1/orders"
    call_log.add(call(orders, 200, 1.0))
    call_log.add(call(orders, 503, 1.0, "booking_unavailable", method="POST"))
    call_log.add(call(f"{orders} scenario", 503, 1.0, "scenario", method="POST"))
    call_log.add(call("/desk/v1/accounts", 401, 1.0, "token_required"))
    call_log.add(call("unknown", 404, 1.0, method="BREW"))
    call_log.add(call("unknown", 404, 1.0, method="MAKE-TEA"))
    call_log.publish()
    found = {name: value for name, value in shown(registry).items() if value}
    assert {name: value for name, value in found.items() if name.startswith("bullion_refusals_total")} == {
        'bullion_refusals_total{code="booking_unavailable",environment="production"}': 1,
        'bullion_refusals_total{code="scenario",environment="production"}': 1,
        'bullion_refusals_total{code="token_required",environment="desk"}': 1,
    }
    assert found[f'bullion_call_seconds_count{{method="GET",route="{orders}"}}'] == 1
    assert found[f'bullion_call_seconds_count{{method="POST",route="{orders}"}}'] == 1
    # Callers cannot make new series: methods of their own are one label.
    assert found['bullion_calls_total{environment="none",method="other",route="unknown",status="404"}'] == 2


def test_every_refusal_is_counted_from_zero() -> None:
    """Otherwise `increase` of Prometheus would not see the first one."""
    registry = CollectorRegistry()
    CallLog(registry, log_all=False)
    found = shown(registry)
    for row in CATALOGUE:
        environments = {"both": ["test", "production"], "prod": ["production"], "test": ["test"]}[row.env]
        for environment in environments:
            name = f'bullion_refusals_total{{code="{row.code}",environment="{environment}"}}'
            assert found[name] == 0


def test_what_wakes_somebody_at_once_is_counted_from_zero_wherever_it_can_come() -> None:
    """The desk places orders too, and public rates need no environment. See BullionOutcomeUnknown."""
    registry = CollectorRegistry()
    CallLog(registry, log_all=False)
    found = shown(registry)
    for code, environment in (
        ("booking_outcome_unknown", "desk"),
        ("booking_not_completed", "desk"),
        ("internal_error", "desk"),
        ("internal_error", "none"),
    ):
        assert found[f'bullion_refusals_total{{code="{code}",environment="{environment}"}}'] == 0
