"""A broker's desk that deals: production orders of other channels, placed, closed, deleted and answered."""

from typing import Any
from uuid import uuid4

import httpx

from .command import bullion
from .desk import Caller, Office
from .node import Node, until
from .orders import GOLD, SILVER, UNBOUNDED

STATUSES = ("pending", "open", "closing", "closed", "rejected", "deleted")
HOLDING = ("pending", "open", "closing")
LIVE = "/api/trading/v1"


class Dealing:
    """An office with gold and silver at fixed prices, and a client `client` to deal for."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.desk = office.desk
        self.desk.do("PUT", "/symbols/GOLD", GOLD)
        self.desk.do("PUT", "/symbols/SILVER", SILVER)
        self.desk.do("PATCH", "/switches", {"budgets": UNBOUNDED})
        for login_id in ("client", "usher"):
            self.desk.account(login_id, allocation={"gold": "100000", "silver": "100000"})
        self.live_key = self.desk.key("client", "production")["key"]
        # Within a second the node has the venue's word on the symbols of a new broker.
        until(lambda: self.place(login_id="usher").status_code != httpx.codes.SERVICE_UNAVAILABLE, within_s=5)

    def place(self, desk: Caller | None = None, /, **fields: Any) -> httpx.Response:
        """A buy of 1 gold over the web unless the fields say otherwise; a field of ... is left out."""
        whole = {
            "login_id": "client",
            "source": "web",
            "idempotency_key": str(uuid4()),
            "symbol_code": "GOLD",
            "trade_type": "buy",
            "quantity": "1",
            **fields,
        }
        sent = {name: value for name, value in whole.items() if value is not ...}
        return (desk or self.desk).post("/orders", json=sent)

    def placed(self, **fields: Any) -> dict[str, Any]:
        """A new order, open or pending as the venue has it."""
        answer = self.place(**fields)
        assert answer.status_code in (201, 202), answer.text
        order: dict[str, Any] = answer.json()
        assert (order["status"] == "pending") == (answer.status_code == 202)
        return order

    def do(self, order: dict[str, Any], what: str, body: Any = None) -> Any:
        return self.desk.do("POST", f"/orders/{order['id']}/{what}", body)

    def order(self, order: dict[str, Any]) -> Any:
        return self.desk.do("GET", f"/orders/{order['id']}")

    def venue(self, **behaviour: Any) -> Any:
        return self.desk.do("PATCH", "/hedge", behaviour)

    def becomes(self, order: dict[str, Any], status: str, within_s: float = 15) -> Any:
        """Wait until whoever settles has found out."""
        until(lambda: self.order(order)["status"] == status, within_s)
        return self.order(order)

    def positions(self) -> Any:
        with self.office.node.api(self.live_key, Host=f"{self.office.broker}.example") as http:
            answer = http.get(f"{LIVE}/positions")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def check(self) -> None:
        """Positions and counts are what the orders add up to."""
        orders = [order for order in self.desk.all("/orders") if order["environment"] == "production"]
        for status in STATUSES:
            listed = self.desk.all(f"/orders?environment=production&status={status}")
            assert listed == [order for order in orders if order["status"] == status]
        net = sum(
            float(order["quantity"]) * (1 if order["trade_type"] == "buy" else -1)
            for order in orders
            if order["login_id"] == "client" and order["status"] in HOLDING and order["unit"] == "g"
        )
        positions = self.positions()
        assert float(positions["gold"]["net"]) == net
        gold = {row["symbol_code"]: row for row in positions["symbols"]}.get("GOLD", {"net": "0"})
        assert float(gold["net"]) == net


def whole(node: Node) -> bool:
    """Whether every audit chain of the store verifies."""
    done = bullion(node.folder, "audit", "verify", **node.settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return True
