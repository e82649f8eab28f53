"""No secret comes out again: not in the log, the store, the metrics, the audit trail or any answer."""

from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from bullion.keys.text import new_secret
from tests.support.desk import KEY, Caller, first_caller
from tests.support.node import DESK_TOKEN, SECRET, Node, own_address, running, until

# What the module makes is costly: one worker makes it, once.

ME = "/api/trading/test/v1/me"


@dataclass
class Session:
    secrets: dict[str, str]
    """By what they are."""
    in_the_clear: list[str]
    """What is no secret and must be found: a search that finds nothing proves nothing."""
    answers: str
    metrics: str
    log: str
    files: dict[str, bytes]


def wrong(text: str) -> str:
    """The same with another secret of the same length and shape."""
    return f"{text.rpartition('.')[0]}.{new_secret()}"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A day at the desk: keys and tokens issued, rotated, used rightly and wrongly."""
    folder = tmp_path_factory.mktemp("canary")
    with running(folder, BULLION_LOG_CALLS="all") as node, first_caller(node) as desk:
        desk.add_group()
        desk.account("client")
        issued = desk.key("client")
        successor = desk.do("POST", f"/keys/{issued['key_id']}/rotate", {})
        live = desk.key("client", "production")
        admin = desk.do("POST", "/tokens", {"name": "Anjali", "role": "admin"})
        leaver = desk.do("POST", "/tokens", {"name": "leaver", "role": "viewer"})
        desk.do("DELETE", f"/tokens/{leaver['token_id']}")
        secrets = {
            "a key": issued["key"],
            "its successor": successor["key"],
            "a live key": live["key"],
            "a wrong key": wrong(issued["key"]),
            "a token": admin["token"],
            "a deleted token": leaver["token"],
            "a wrong token": wrong(admin["token"]),
        }
        use_keys(node, [text for what, text in secrets.items() if "key" in what or "successor" in what])
        use_tokens(node, [text for what, text in secrets.items() if "token" in what])
        misuse(desk, secrets)
        desk.do("POST", f"/keys/{issued['key_id']}/revoke")
        answers = str(desk.state()) + open_pages(node)
        metrics = httpx.get(f"{node.desk_url}/metrics", timeout=20).text
        until(lambda: any("invalid_credential" in line for line in node.log), 5)
        files = everything_in(folder)
    files |= {f"{name} after the stop": content for name, content in everything_in(folder).items()}
    secrets = {what: text.rpartition(".")[2] for what, text in secrets.items()}
    return Session(
        secrets | {"the first token": DESK_TOKEN, "the deployment's secret": SECRET},
        [issued["key_id"], admin["token_id"]],
        answers,
        metrics,
        "".join(node.log),
        files,
    )


def use_keys(node: Node, keys: list[str]) -> None:
    for key in keys:
        with node.api(key) as client:
            client.get(ME)
            client.get(f"{ME}?key={key}")
            client.get(f"/{key}")
            client.get(ME, headers={"X-API-Key": f"{key}x"})
            client.get(ME, headers={"Authorization": f"Bearer {key}"})


def use_tokens(node: Node, tokens: list[str]) -> None:
    for token in tokens:
        with Caller(node.desk_url, token) as caller:
            caller.get("/accounts")
            caller.get(f"/accounts?token={token}")
            caller.post("/accounts", json={"login_id": "x", "group": "none"})
            caller.get("/accounts", headers={"Authorization": f"Basic {token}"})


def misuse(desk: Caller, secrets: dict[str, str]) -> None:
    """Secrets where they do not belong: in paths and bodies of calls that are refused."""
    for text in secrets.values():
        desk.post(f"/keys/{text}/revoke")
        desk.get(f"/accounts/{text}")
        desk.delete(f"/tokens/{text}")
        desk.put(f"/symbols/{text}", json={})
        desk.post("/accounts/client/keys", json=KEY | {"scopes": [text]})
        desk.patch("/switches", json={text: True})


def open_pages(node: Node) -> str:
    with httpx.Client(transport=httpx.HTTPTransport(verify=False, local_address=own_address())) as client:
        urls = [f"{node.api_url}{path}" for path in ("/openapi.json", "/docs", "/health/ready", "/nowhere")]
        return "".join(client.get(url).text for url in [*urls, f"{node.desk_url}/health/ready"])


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def found_in(session: Session, text: str) -> list[str]:
    return [what for what, secret in session.secrets.items() if secret in text]


def test_no_secret_in_the_log(session: Session) -> None:
    assert all(each in session.log for each in session.in_the_clear)
    assert "invalid_credential" in session.log
    assert "token_required" in session.log
    assert found_in(session, session.log) == []


def test_no_secret_in_any_answer_or_audit_entry(session: Session) -> None:
    assert all(each in session.answers for each in session.in_the_clear)
    assert found_in(session, session.answers) == []


def test_no_secret_in_the_metrics(session: Session) -> None:
    assert "bullion_refusals_total" in session.metrics
    assert found_in(session, session.metrics) == []


def test_no_secret_in_the_store(session: Session) -> None:
    assert {"var/bullion.db", "var/bullion.db-wal", "var/bullion.db after the stop"} <= session.files.keys()
    written = b"".join(session.files.values()).decode("latin-1")
    assert all(each in written for each in session.in_the_clear)
    assert found_in(session, written) == []


def test_the_store_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    with running(tmp_path, BULLION_SECRET=""):
        modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "var").iterdir()}
    assert modes["secret"] == 0o600
    assert {modes[name] for name in modes if name.startswith("bullion.db")} == {0o600}
    assert (tmp_path / "var").stat().st_mode & 0o777 == 0o700
