"""The desk as its tests use it: callers at the desk, a broker of a test's own, and refusals read strictly."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import quote

import httpx

from .node import DESK_TOKEN, DeskClient, Node, own_transport

SYMBOL: dict[str, Any] = {
    "metal": "gold",
    "quoted_weight": "10",
    "minimum": "1",
    "maximum": "1000",
    "step": "0.5",
    "pricing": {"kind": "direct", "instrument": "GOLD"},
}
KEY: dict[str, Any] = {"environment": "test", "name": "a key", "scopes": ["account:read"]}
LISTS = ["/brokers", "/symbols", "/groups", "/duties", "/rates", "/accounts", "/orders", "/tokens", "/audit"]
LISTS += ["/hedge/executions", "/hedge/breaks"]

_numbers = count(1)


def unique(prefix: str) -> str:
    """A name that no other test of this run uses."""
    return f"{prefix}-{os.getpid()}-{next(_numbers)}"


class Caller(DeskClient):
    """Somebody at the desk with a source address of their own."""

    def __init__(self, url: str, token: str) -> None:
        # Without certificates to load, a client is made in a moment: tests make hundreds.
        httpx.Client.__init__(
            self,
            base_url=f"{url}/desk/v1",
            headers={"Authorization": f"Bearer {token}"},
            transport=own_transport(),
            timeout=20,
        )
        self.audit_trail: list[Any] | None = None
        """What the trail has to stay like for good, where nothing at all may change."""

    def raw(self, method: str, path: str, content: bytes, **headers: str) -> httpx.Response:
        """Send these bytes as they are."""
        return self.request(
            method, path, content=content, headers={"Content-Type": "application/json", **headers}
        )

    def refused(
        self, method: str, path: str, body: Any = None, *, status: int = 422, code: str = "invalid_request"
    ) -> str:
        """Send what must be refused; give the message."""
        content = b"" if body is None else json.dumps(body).encode()
        return refusal(self.raw(method, path, content), status, code)

    def all(self, path: str) -> list[Any]:
        """Every page of a list."""
        found: list[Any] = []
        more = "&" if "?" in path else "?"
        while True:
            page = self.do("GET", f"{path}{more}limit=200&offset={len(found)}")
            found += page["items"]
            if len(found) >= page["total"]:
                return found

    def state(self) -> dict[str, Any]:
        """Everything that the desk can read about its broker, but who used which key or token."""
        found = {path: self.all(path) for path in LISTS}
        # A feed goes on by itself.
        found["/rates"] = [without_age(rate) for rate in found["/rates"] if rate["source"] == "desk"]
        found["/tokens"] = [{**token, "last_used_at": None, "sessions": 0} for token in found["/tokens"]]
        for account in found["/accounts"]:
            path = f"/accounts/{quote(account['login_id'])}/keys"
            found[path] = [{**key, "last_used_at": None} for key in self.all(path)]
        return {**found, "/switches": self.do("GET", "/switches"), "/hedge": self.do("GET", "/hedge")}


def without_age(rate: dict[str, Any]) -> dict[str, Any]:
    """What a rate is whenever one looks."""
    return {name: value for name, value in rate.items() if name != "age_s"}


def refusal(answer: httpx.Response, status: int, code: str) -> str:
    """The message of a refusal, which must have exactly the shape of one."""
    assert answer.status_code == status, f"{answer.status_code} {answer.text[:400]}"
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert body.keys() == {"detail"}
    errors = body["detail"].pop("errors", None)
    assert body["detail"].keys() == {"code", "message"}
    assert body["detail"]["code"] == code
    assert (errors is not None) == (code == "invalid_request")
    for error in errors or ():
        assert error.keys() == {"loc", "msg", "type"}
        assert error["loc"][0] in ("body", "path", "query")
        assert error["msg"].endswith(".")
        assert not error["msg"].endswith("..")
    message = body["detail"]["message"]
    assert isinstance(message, str)
    assert message.endswith(".")
    assert not message.endswith("..")
    return message


@contextmanager
def nothing_changed(desk: Caller) -> Iterator[None]:
    """What is done here leaves the desk's state and its audit trail as they were.

    At an office where nothing may ever change, only the trail is compared here. Everything else is compared
    once, when the office closes: see `unchanging`.
    """
    if desk.audit_trail is not None:
        yield
        assert desk.all("/audit") == desk.audit_trail
        return
    before = desk.state()
    yield
    assert desk.state() == before


@contextmanager
def unchanging(desk: Caller) -> Iterator[None]:
    """An office that stays as it is, whatever it is asked: to read its state takes longer than most calls."""
    before = desk.state()
    desk.audit_trail = before["/audit"]
    yield
    desk.audit_trail = None
    assert desk.state() == before, "some call that was refused has changed something"


@dataclass
class Office:
    """A broker of a test's own, with an admin at its desk."""

    node: Node
    broker: str
    desk: Caller
    admin_token: dict[str, Any]
    _callers: list[httpx.Client] = field(default_factory=list)

    @classmethod
    def open(cls, node: Node, first: Caller) -> "Office":
        broker = unique("broker")
        first.do("PUT", f"/brokers/{broker}", {"name": "A Broker", "hosts": [f"{broker}.example"]})
        body = {"name": "an admin", "role": "admin", "broker": broker}
        token = first.do("POST", "/tokens", body)
        desk = Caller(node.desk_url, token["token"])
        desk.add_group()
        return cls(node, broker, desk, token, [desk])

    def close(self) -> None:
        for caller in self._callers:
            caller.close()

    def caller(self, token: str) -> Caller:
        """Whoever holds this token."""
        caller = Caller(self.node.desk_url, token)
        self._callers.append(caller)
        return caller

    def hire(self, role: str) -> Caller:
        """Somebody with a new token of this role."""
        return self.caller(self.desk.do("POST", "/tokens", {"name": f"a {role}", "role": role})["token"])

    def me(self, key: str, address: str | None = None) -> httpx.Response:
        """A client's call of this broker."""
        environment = "trading/test" if key.startswith("key_test.") else "trading"
        with httpx.Client(
            base_url=self.node.api_url,
            headers={"X-API-Key": key, "Host": f"{self.broker}.example"},
            transport=own_transport(address),
            timeout=20,
        ) as client:
            return client.get(f"/api/{environment}/v1/me")

    def me_code(self, key: str, address: str | None = None) -> str:
        """`ok`, or the code with which the key is refused."""
        answer = self.me(key, address)
        return "ok" if answer.status_code == 200 else str(answer.json()["detail"]["code"])


def first_caller(node: Node) -> Caller:
    """The deployment's first token at work."""
    return Caller(node.desk_url, DESK_TOKEN)
