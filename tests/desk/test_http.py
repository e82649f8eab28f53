"""What holds for every call of the desk's port: paths, methods, headers, and the pages that need no token."""

import re
from collections.abc import Iterator

import httpx
import pytest

from tests.support.desk import Office
from tests.support.node import Node, own_transport

OPEN = ["/health/live", "/health/ready", "/metrics"]
METHODS = {
    "/desk/v1/brokers": "GET",
    "/desk/v1/brokers/x": "PUT",
    "/desk/v1/symbols": "GET",
    "/desk/v1/symbols/X": "PATCH, PUT",
    "/desk/v1/groups": "GET",
    "/desk/v1/groups/x": "PATCH, PUT",
    "/desk/v1/rates": "GET",
    "/desk/v1/rates/X": "PUT",
    "/desk/v1/duties": "GET",
    "/desk/v1/duties/x": "PUT",
    "/desk/v1/accounts": "GET, POST",
    "/desk/v1/accounts/x": "GET, PATCH",
    "/desk/v1/accounts/x/test-book/reset": "POST",
    "/desk/v1/accounts/x/keys": "GET, POST",
    "/desk/v1/keys/x/rotate": "POST",
    "/desk/v1/keys/x/revoke": "POST",
    "/desk/v1/switches": "GET, PATCH",
    "/desk/v1/orders": "GET, POST",
    "/desk/v1/orders/x": "GET",
    "/desk/v1/orders/x/close": "POST",
    "/desk/v1/orders/x/complete": "POST",
    "/desk/v1/orders/x/delete": "POST",
    "/desk/v1/orders/x/confirm": "POST",
    "/desk/v1/orders/x/refuse": "POST",
    "/desk/v1/hedge": "GET, PATCH",
    "/desk/v1/hedge/executions": "GET",
    "/desk/v1/hedge/queue": "GET",
    "/desk/v1/hedge/breaks": "GET",
    "/desk/v1/hedge/breaks/x/resolve": "POST",
    "/desk/v1/traces": "GET",
    "/desk/v1/traces/x": "GET",
    "/desk/v1/tokens": "GET, POST",
    "/desk/v1/tokens/x": "DELETE, PATCH",
    "/desk/v1/audit": "GET",
    "/health/live": "GET, HEAD",
    "/health/ready": "GET, HEAD",
    "/metrics": "GET",
}


@pytest.fixture(scope="module")
def stranger(node: Node) -> Iterator[httpx.Client]:
    """Somebody without a token."""
    transport = own_transport()
    with httpx.Client(base_url=node.desk_url, transport=transport, timeout=20) as client:
        yield client


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/desk",
        "/desk/v1",
        "/desk/v1/",
        "/desk/v2/accounts",
        "/desk/v1/nowhere",
        "/desk/v1/accounts/",
        "/desk/v1/accounts/x/y",
        "/desk/v1/accounts/x/keys/",
        "/desk/v1/symbols/A%2FB",
        "/desk/v1//accounts",
        "/desk/v1/Accounts",
        "/desk/v1/accounts%0A",
        "/desk/v1/accounts/x/keys%0A",
        "/metrics/",
        "/metrics%0A",
        "/health",
        "/health/live%0A",
        "/docs",
        "/api/trading/test/v1/me",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_path_is_404_without_a_code(stranger: httpx.Client, method: str, path: str) -> None:
    answer = stranger.request(method, path)
    assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})


@pytest.mark.parametrize(("path", "allowed"), METHODS.items())
def test_another_method_is_405_with_allow_before_a_token_is_asked_for(
    stranger: httpx.Client, path: str, allowed: str
) -> None:
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
        if method in allowed.split(", "):
            continue
        answer = stranger.request(method, path)
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
        if method != "HEAD":
            assert answer.json()["detail"]["code"] == "method_not_allowed"


def test_every_answer_has_a_request_id_and_security_headers(standing: Office, stranger: httpx.Client) -> None:
    desk = standing.desk
    answers = [
        *(stranger.get(path) for path in OPEN),
        stranger.get("/nowhere"),
        stranger.post("/metrics"),
        stranger.get("/desk/v1/accounts"),
        desk.get("/accounts"),
        desk.get("/accounts/nobody"),
        desk.delete("/accounts"),
        desk.raw("POST", "/accounts", b"{"),
        desk.raw("POST", "/accounts", b"x" * 300 * 1024),
        desk.raw("POST", "/accounts", b"{}", **{"Content-Encoding": "gzip"}),
        desk.get("/accounts?limit=0"),
    ]
    assert [answer.status_code for answer in answers] == [
        200, 200, 200, 404, 405, 401, 200, 404, 405, 422, 413, 415, 422,
    ]  # fmt: skip
    ids = {answer.headers["x-request-id"] for answer in answers}
    assert len(ids) == len(answers)
    for answer in answers:
        assert re.fullmatch(r"[0-9a-f]{24}", answer.headers["x-request-id"])
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "server" not in answer.headers


def test_the_health_pages_are_open(stranger: httpx.Client) -> None:
    assert stranger.get("/health/live").json() == {"live": True}
    ready = stranger.get("/health/ready").json()
    assert ready == {"ready": True, "store": True, "schema": True, "catalogue": True}


def test_the_metrics_are_open_and_count_calls(standing: Office, stranger: httpx.Client) -> None:
    def counted() -> float:
        text = stranger.get("/metrics").text
        found = re.search(
            r'^bullion_calls_total\{.*,route="/desk/v1/accounts/\{login_id\}",status="404"\} (.+)$',
            text,
            re.MULTILINE,
        )
        return float(found[1]) if found else 0.0

    before = counted()
    standing.desk.get("/accounts/nobody-at-all")
    assert counted() == before + 1
    answer = stranger.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "nobody-at-all" not in answer.text


@pytest.mark.parametrize(
    ("content", "headers"),
    [
        (b'{"nonsense": 1}', {}),
        (b"\x00\xff not JSON", {"Content-Type": "text/plain"}),
        (b"x" * 300 * 1024, {}),
        (b"\x1f\x8b", {"Content-Encoding": "gzip"}),
    ],
    ids=["JSON", "junk", "300 KiB", "gzip"],
)
def test_a_get_with_a_body_is_a_get(standing: Office, content: bytes, headers: dict[str, str]) -> None:
    for path in ("/accounts", "/accounts/client", "/switches", "/audit"):
        answer = standing.desk.raw("GET", path, content, **headers)
        assert answer.status_code == 200, answer.text
        assert answer.json() == standing.desk.do("GET", path)


def test_a_request_id_of_the_caller_is_not_taken_over(stranger: httpx.Client) -> None:
    answer = stranger.get("/health/live", headers={"X-Request-Id": "mine"})
    assert answer.headers["x-request-id"] != "mine"


def test_answers_are_json_in_utf8(standing: Office) -> None:
    answer = standing.desk.get("/accounts")
    assert answer.headers["content-type"] == "application/json"
    assert int(answer.headers["content-length"]) == len(answer.content)
