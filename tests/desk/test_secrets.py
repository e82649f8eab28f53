"""No secret comes out a second time: in logs, pages, metrics, responses, spans, the trail or the store."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from bullion.console.pages import PAGES
from bullion.keys.text import new_secret
from bullion.settings import read_settings
from tests.support.command import bullion, environment
from tests.support.console import ConsoleProcess, running_console
from tests.support.desk import KEY, Caller, first_caller
from tests.support.node import DESK_TOKEN, SECRET, Node, own_transport, running, until
from tests.support.otlp import Receiver, running_receiver
from tests.support.servers import Postgres, Redis

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
    with running(folder, BULLION_LOG_LEVEL="debug") as node, first_caller(node) as desk:
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
        until(lambda: any(entry["level"] == "debug" for entry in node.entries("call")), 5)
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
    with httpx.Client(transport=own_transport()) as client:
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


# --- A deployment with PostgreSQL, Redis, the console and OpenTelemetry -----------------------------------

DATABASE_PASSWORD, REDIS_PASSWORD = "canary/of:the@database", "canary/of:the@limiter"
NEW_SECRET, OLD_SECRET = "canary-of-the-new-deployment-secret", "canary-of-the-old-deployment-secret"
COLLECTOR_TOKEN = "canary-of-the-collector"
PAGES_WITH_MORE = ("orders?search=x", "accounts/client", "accounts/nobody", "market?tab=rates", "nowhere")


@dataclass
class Deployment:
    """What came out of it, by where."""

    secrets: dict[str, str]
    seen: dict[str, str] = field(default_factory=dict)

    def found(self) -> list[tuple[str, str]]:
        return [
            (what, place)
            for what, secret in self.secrets.items()
            for place, text in self.seen.items()
            if secret in text or quote(secret, safe="") in text
        ]


@pytest.fixture(scope="module")
def deployment(
    postgres: Postgres, schema_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """It is used rightly and wrongly, and then loses its database and its Redis."""
    folder = tmp_path_factory.mktemp("deployment")
    database, redis = postgres.new_database(schema_template), Redis().start()
    try:
        redis.command("CONFIG", "SET", "requirepass", REDIS_PASSWORD)
        settings = {
            "BULLION_DATABASE_URL": database.replace(
                "//bullion@", f"//bullion:{quote(DATABASE_PASSWORD, safe='')}@"
            ),
            "BULLION_REDIS_URL": redis.url.replace("//", f"//:{quote(REDIS_PASSWORD, safe='')}@"),
            "BULLION_SECRET": NEW_SECRET,
            "BULLION_SECRET_OLD": OLD_SECRET,
            "BULLION_LOG_LEVEL": "debug",
        }
        tracing = {"BULLION_OTEL": "on", "OTEL_EXPORTER_OTLP_HEADERS": f"authorization={COLLECTOR_TOKEN}"}
        with running_receiver() as receiver:
            tracing |= {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}
            with (
                running(folder, **settings, **tracing) as node,
                running_console(folder, **settings, BULLION_DESK_TOKEN=DESK_TOKEN) as console,
            ):
                yield used(node, console, receiver, folder, settings, postgres, redis)
    finally:
        redis.remove()


def used(
    node: Node,
    console: ConsoleProcess,
    receiver: Receiver,
    folder: Path,
    settings: dict[str, str],
    postgres: Postgres,
    redis: Redis,
) -> Deployment:
    seen: dict[str, str] = {}
    with first_caller(node) as desk:
        desk.add_group()
        desk.account("client")
        key, token = (
            desk.key("client")["key"],
            desk.do("POST", "/tokens", {"name": "A", "role": "admin"})["token"],
        )
        cookie = visit(console, token, seen)
        secrets = {
            "the password of the database": DATABASE_PASSWORD,
            "the password of Redis": REDIS_PASSWORD,
            "the secret": NEW_SECRET,
            "the old secret": OLD_SECRET,
            "the first token": DESK_TOKEN,
            "the token of the collector": COLLECTOR_TOKEN,
            "a key": key.rpartition(".")[2],
            "a token": token.rpartition(".")[2],
            "a session": cookie,
        }
        use_keys(node, [key, cookie])
        use_tokens(node, [token, cookie])
        misuse(desk, {"a key": key, "a token": token, "a session": cookie})
        seen["answers of the desk"] = str(desk.state())
        seen["metrics"] = httpx.get(f"{node.desk_url}/metrics").text
        seen["doctor"] = told(folder, settings, "doctor")
        seen["secret status"] = told(folder, settings, "secret", "status")
        until(lambda: any(each.name.startswith("GET /desk/v1/accounts") for each in receiver.spans), 20)
        redis.stop()
        postgres.drop(node.settings["BULLION_DATABASE_URL"])
        until(lambda: node.entries("store_lost") and node.entries("redis_down"), 30)
        until(lambda: desk.get("/accounts").status_code == 503, 20)
        seen["answers without a store"] = desk.get("/accounts").text + open_pages(node)
        seen["doctor without a store"] = told(folder, settings, "doctor")
        seen["migrate without a store"] = told(folder, settings, "migrate")
        until(lambda: node.entries("store_fault"), 5)
    seen["spans"] = b"".join(receiver.bodies).decode("latin-1")
    seen["log of the service"] = "".join(node.log)
    seen["log of the console"] = "".join(console.log)
    seen["settings"] = repr(read_settings(environment(**settings), folder / "none"))
    assert any(COLLECTOR_TOKEN in str(headers) for headers in receiver.headers)
    return Deployment(secrets, seen)


def visit(console: ConsoleProcess, token: str, seen: dict[str, str]) -> str:
    """See every page. Return the session that the cookie holds."""
    origin = {"Origin": console.url}
    with httpx.Client(base_url=console.url, timeout=20) as browser:
        refused = browser.post("/login", data={"token": f"{token}x"}, headers=origin)
        assert refused.status_code == 401
        browser.post("/login", data={"token": token}, headers={"Origin": "http://elsewhere.example"})
        assert browser.post("/login", data={"token": token}, headers=origin).status_code == 303
        (cookie,) = browser.cookies.values()
        paths = [each.name for each in PAGES] + list(PAGES_WITH_MORE)
        answers = [browser.get(f"/{part}{path}") for part in ("", "live/") for path in paths]
        answers.append(browser.get(f"/{cookie}"))
        assert any("client" in answer.text for answer in answers)
        # A page may repeat the address that it was asked for.
        seen["pages"] = refused.text + "".join(answer.text for answer in answers[:-1])
        seen["headers of pages"] = "".join(str(answer.headers) for answer in answers)
    return cookie


def told(folder: Path, settings: dict[str, str], *words: str) -> str:
    done = bullion(folder, *words, **settings)
    assert done.stdout + done.stderr
    return done.stdout + done.stderr


def test_no_secret_comes_out_of_a_deployment(deployment: Deployment) -> None:
    """What must be found shows that each place was searched."""
    expected = {
        "pages": "<h1",
        "metrics": "bullion_refusals_total",
        "doctor": "ok   redis: answers.",
        "doctor without a store": "BAD  redis",
        "migrate without a store": "BULLION_DATABASE_URL",
        "spans": "GET /desk/v1/accounts",
        "log of the service": '"level": "debug"',
        "log of the console": "logged_in",
        "answers without a store": "service_unavailable",
    }
    for place, text in expected.items():
        assert text in deployment.seen[place], place
    assert deployment.found() == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BULLION_DATABASE_URL", "mysql://bullion:canary-of-a-setting@db/bullion"),
        ("BULLION_DATABASE_URL", "postgresql://bullion:canary-of-a-setting@127.0.0.1:1/bullion"),
        ("BULLION_DATABASE_URL", "postgresql://bullion:canary-of-a-setting@127.0.0.1:one/bullion"),
        ("BULLION_REDIS_URL", "http://:canary-of-a-setting@redis"),
        ("BULLION_REDIS_URL", "redis://:canary-of-a-setting@redis:one"),
        ("BULLION_SECRET", "canary-of-a-setting"),
        ("BULLION_SECRET_OLD", "canary-of-a-setting"),
        ("BULLION_DESK_TOKEN", "canary-of-a-setting"),
    ],
)
def test_no_message_about_a_wrong_setting_repeats_a_secret(tmp_path: Path, name: str, value: str) -> None:
    for command in ("doctor", "migrate"):
        done = bullion(tmp_path, command, **{name: value})
        assert done.returncode != 0
        assert name in done.stdout + done.stderr
        assert "canary-of-a-setting" not in done.stdout + done.stderr
