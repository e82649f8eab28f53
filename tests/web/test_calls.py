"""What the call log counts is what the metrics show."""

from prometheus_client import CollectorRegistry, generate_latest

from bullion.web.calls import Call, CallLog


def shown(registry: CollectorRegistry) -> dict[str, float]:
    lines = generate_latest(registry).decode().splitlines()
    return {
        name: float(value) for name, _, value in (line.rpartition(" ") for line in lines) if name[:1] != "#"
    }


def call(route: str, status: int, ms: float, code: str | None = None) -> Call:
    return Call(b"id", "GET", route, status=status, ms=ms, code=code)


def test_calls_seconds_and_refusals_are_published() -> None:
    registry = CollectorRegistry()
    call_log = CallLog(registry, log_all=False)
    for ms in (0.4, 0.5, 0.6, 30.0, 9000.0):
        call_log.add(call("/me", 200, ms))
    call_log.add(call("/me", 401, 0.1, "missing_credential"))
    call_log.publish()
    call_log.add(call("/me", 200, 0.4))
    call_log.publish()
    call_log.publish()
    found = shown(registry)
    assert found['bullion_calls_total{route="/me",status="200"}'] == 6
    assert found['bullion_calls_total{route="/me",status="401"}'] == 1
    assert found['bullion_refusals_total{code="missing_credential"}'] == 1
    assert found['bullion_call_seconds_bucket{le="0.0005",route="/me"}'] == 4
    assert found['bullion_call_seconds_bucket{le="0.001",route="/me"}'] == 5
    assert found['bullion_call_seconds_bucket{le="5.0",route="/me"}'] == 6
    assert found['bullion_call_seconds_bucket{le="+Inf",route="/me"}'] == 7
    assert found['bullion_call_seconds_count{route="/me"}'] == 7
    assert abs(found['bullion_call_seconds_sum{route="/me"}'] - 9.0320) < 1e-9
