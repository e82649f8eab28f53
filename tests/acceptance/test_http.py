"""What holds for every call: routes, methods, headers, and the pages that need no key."""

import json
import re
from pathlib import Path

import httpx
import pytest

from tests.support.node import DeskClient, Node, until

ME = "/api/trading/test/v1/me"
HEALTH = ["/health/live", "/health/ready"]
OPEN = ["/openapi.json", "/postman.json", "/docs", "/docs/guide", *HEALTH]


@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/trading/test/v1",
        "/api/trading/test/v1/me/",
        "/api/trading/v1/nowhere",
        "/desk/v1/brokers",
        "/api/trading%2ftest/v1/me",
        "/api/trading/test/v1%2Fme",
        "/api/trading/test/v1/orders%2f01a1de23-96a5-7be9-bf2f-390000000001",
        "/api/trading/test/v1/orders/a%2Fb",
        "/health%2flive",
        "/api/trading/test/v1/me%2f",
        "/api/trading/test/v1/%256de",
    ],
)
def test_an_unknown_path_is_404_without_a_code(node: Node, path: str) -> None:
    with node.api() as api:
        answer = api.get(path)
    assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})


def test_a_path_is_matched_by_its_decoded_segments(node: Node, desk: DeskClient, login: str) -> None:
    with node.api(desk.key(login)["key"]) as api:
        assert api.get("/api/trading/test/v1/%6de").status_code == 200
        assert api.get("/%61pi/trading/test/v1/m%65?x=%2f").status_code == 200


def test_the_desk_does_not_take_an_encoded_slash_for_a_slash(node: Node, desk: DeskClient) -> None:
    assert desk.get("/switches").status_code == 200
    assert desk.get("/%73witches").status_code == 200
    for path in ("/desk%2fv1/switches", "/desk/v1%2Fswitches", "/health%2Flive"):
        answer = httpx.get(node.desk_url + path, headers=desk.headers)
        assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})


NOT_TAKEN = [
    (path, method)
    for path in (ME, "/api/trading/v1/me", *OPEN)
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE")
    if method != "HEAD" or path not in HEALTH
]


@pytest.mark.parametrize(("path", "method"), NOT_TAKEN)
def test_another_method_is_405_with_allow(node: Node, path: str, method: str) -> None:
    with node.api() as api:
        answer = api.request(method, path)
    assert answer.status_code == 405
    assert answer.headers["allow"] == ("GET, HEAD" if path in HEALTH else "GET")
    if method != "HEAD":
        assert answer.json()["detail"]["code"] == "method_not_allowed"


@pytest.mark.parametrize("path", HEALTH)
@pytest.mark.parametrize("port", ["api", "desk"])
def test_head_on_health_is_answered_like_get_without_a_body(node: Node, port: str, path: str) -> None:
    base = node.api_url if port == "api" else node.desk_url
    with httpx.Client(base_url=base) as client:
        got, head = client.get(path), client.head(path)
        assert (head.status_code, head.content) == (got.status_code, b"")
        assert head.headers["content-length"] == got.headers["content-length"] == str(len(got.content))
        assert head.headers["content-type"] == got.headers["content-type"]
        assert client.get(path).content == got.content, "the connection goes on"
        refused = client.post(path)
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
    if port == "desk":
        assert httpx.head(f"{base}/metrics").headers["allow"] == "GET"


@pytest.mark.parametrize("path", [ME, "/nowhere", *OPEN])
def test_every_answer_has_a_request_id_and_security_headers(node: Node, path: str) -> None:
    with node.api() as api:
        answers = [api.get(path), api.post(path, json={}), api.get(path)]
    ids = {answer.headers["x-request-id"] for answer in answers}
    assert len(ids) == 3
    for answer in answers:
        assert re.fullmatch(r"[0-9a-f]{24}", answer.headers["x-request-id"])
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "server" not in answer.headers


@pytest.mark.parametrize("path", OPEN)
def test_what_needs_no_key(node: Node, path: str) -> None:
    with node.api() as api:
        assert api.get(path).status_code == 200


def test_the_bare_address_leads_to_the_docs(node: Node) -> None:
    with node.api() as api:
        answer = api.get("/")
        assert (answer.status_code, answer.headers["location"], answer.json()) == (
            302,
            "/docs",
            {"docs": "/docs"},
        )
        assert api.get("/", follow_redirects=True).text.startswith("<!doctype html>")


def test_the_postman_collection_is_the_one_in_the_docs(node: Node) -> None:
    kept = json.loads(Path(__file__).parents[2].joinpath("docs/postman.json").read_text("utf-8"))
    with node.api() as api:
        assert api.get("/postman.json").json() == kept


def test_the_description_is_the_one_in_the_docs(node: Node) -> None:
    kept = json.loads(Path(__file__).parents[2].joinpath("docs/openapi.json").read_text("utf-8"))
    with node.api() as api:
        served = api.get("/openapi.json").json()
    assert served == kept
    assert served["openapi"].startswith("3.1")
    assert served["info"]["version"] == "1.0.0"


@pytest.mark.parametrize("path", ["/docs", "/docs/guide"])
def test_a_page_needs_no_other_host_and_no_script(node: Node, path: str) -> None:
    with node.api() as api:
        answer = api.get(path)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "<script" not in answer.text
    assert not re.search(r"""(src|href)=["'](https?:)?//""", answer.text)


def test_health(node: Node) -> None:
    with node.api() as api:
        assert api.get("/health/live").json() == {"live": True}
        assert api.get("/health/ready").json() == {
            "ready": True,
            "store": True,
            "schema": True,
            "catalogue": True,
        }


def test_a_body_on_a_get_is_ignored(node: Node, desk: DeskClient, login: str) -> None:
    with node.api(desk.key(login)["key"]) as api:
        for _ in range(3):
            assert api.request("GET", ME, content=b"x" * 50_000).status_code == 200


def test_headers_over_16_kib_are_refused(node: Node, desk: DeskClient, login: str) -> None:
    key = desk.key(login)["key"]
    with node.api(key) as api:
        assert api.get(ME, headers={"X-Padding": "x" * 15_000}).status_code == 200
        answer = api.get(ME, headers={"X-Padding": "x" * 17_000})
        assert answer.status_code == 431
        assert answer.json()["detail"]["code"] == "headers_too_large"
        assert api.get(ME).status_code == 200


def test_a_query_and_an_escaped_path_change_nothing(node: Node, desk: DeskClient, login: str) -> None:
    with node.api(desk.key(login)["key"]) as api:
        assert api.get(ME + "?x=1&y=%00").status_code == 200
        assert api.get(ME + "%00").status_code == 404
        assert api.get("/api/trading/test/v1/../v1/me/../me").status_code in (200, 404)


def test_a_log_line_tells_of_a_refusal_and_never_of_a_secret(
    node: Node, desk: DeskClient, login: str
) -> None:
    issued = desk.key(login)
    secret = issued["key"].rpartition(".")[2]
    desk.do("POST", f"/keys/{issued['key_id']}/revoke")
    with node.api(issued["key"]) as api:
        request_id = api.get(ME).headers["x-request-id"]

    def logged() -> list[dict[str, object]]:
        return [entry for entry in node.entries("call") if entry["request_id"] == request_id]

    until(logged, 5)
    (entry,) = logged()
    assert entry["code"] == "credential_revoked"
    assert entry["key_id"] == issued["key_id"]
    assert not [line for line in node.log if secret in line]
