"""A day at the desk, without a browser: every page is whole, and what is done in them holds."""

import re

from bullion.rates.candle import Step
from tests.support.console import ConsoleProcess
from tests.support.console_client import console_client
from tests.support.dealing import Dealing
from tests.support.desk import Office
from tests.support.node import until
from tests.support.orders import BUY_PRICE, ORDERS, refused
from tests.support.price_slips import check_console_slips
from tests.support.rate_samples import put_candles

TABS = ("symbols", "groups", "rates", "duty", "hours", "limits", "venue", "public")


def test_a_day_at_the_desk(console: ConsoleProcess, dealing: Dealing) -> None:
    with console_client(console, dealing.office) as at:
        order = dealing.placed(quantity="25")
        assert "25" in at.see(f"orders/{order['id']}")
        at.do(f"orders/close?id={order['id']}")
        told = at.preview(f"orders/complete?id={order['id']}", close_price="72,240")
        assert "The client gains" in told
        assert "₹2,500.00" in told.replace(" ", "\N{NO-BREAK SPACE}")
        assert "data-not-yet" in at.preview(f"orders/complete?id={order['id']}", close_price="much")
        at.do(f"orders/complete?id={order['id']}", close_price="72240")
        assert dealing.order(order)["realized_pnl"] == "2500.00"

        listed = at.see("orders?login_id=client&sort=-weight&columns=time,weight,closed,result")
        assert "72,240.00" in listed
        assert "+2,500.00" in listed
        assert "bought" in listed

        dealing.venue(mode="hold")
        held = dealing.placed()
        assert held["id"] in at.see("overview")
        at.do(f"orders/delete?id={held['id']}", reason="a mistake")
        assert dealing.order(held)["status"] == "deleted"

        revealed = at.do(
            "accounts/issue-key?login=client",
            environment="test",
            name="from the console",
            **{"scope orders:write": "yes"},
        )["reveal"]
        key = re.search(r"<code[^>]*>([^<]+)</code>", revealed)
        assert key is not None
        with dealing.office.node.api(key[1], Host=f"{dealing.office.broker}.example") as http:
            body = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}
            placed = http.post(ORDERS, json=body, headers={"Idempotency-Key": "k1"})
            assert placed.status_code == 201, placed.text
            assert placed.json()["id"] in at.see("orders?environment=test")
            at.do("frame/halt")
            denied = http.post(ORDERS, json=body, headers={"Idempotency-Key": "k2"})
            refused(denied, "trading_halted")
            at.do("frame/resume")
        decision = f"orders/decision/{denied.headers['X-Request-Id']}"
        until(lambda: "trading_halted" in at.client.get(f"/live/{decision}").text, within_s=5)
        at.do("accounts/reset?login=client")
        assert dealing.desk.do("GET", "/orders?environment=test&login_id=client")["total"] == 0
        assert "reset_test_book" in at.see("audit")


def test_every_page_is_whole(console: ConsoleProcess, dealing: Dealing) -> None:
    dealing.desk.do("PUT", "/duties/gold", [{"from": "2024-01-01", "rupees": "7500"}])
    order = dealing.placed()
    with console_client(console, dealing.office) as at:
        for path in ("overview", "orders", f"orders/{order['id']}", "accounts", "accounts/client", "audit"):
            assert at.see(path)
        for tab in TABS:
            assert at.see(f"market/{tab}")
        put_candles(dealing.office.node, dealing.office.broker, "GOLD", Step.HOUR, [71_000, 71_500])
        for span in ("15m", "1h", "1d", "1w", "1mo", "1y"):
            assert "GOLD over" in at.see(f"rates/GOLD?span={span}")
        assert "data-points" in at.see("rates/GOLD?span=1w&values=yes")
        assert "No price" not in at.preview("market/edit-symbol?code=GOLD")
        at.do("market/tolerance", price_tolerance_percent="1.5")
        assert dealing.desk.do("GET", "/switches")["price_tolerance_percent"] == "1.5000"
        at.do("market/add-duty?name=gold", **{"from": "2099-01-01", "rupees": "8000"})
        assert len(dealing.desk.do("GET", "/duties")["items"][0]["duties"]) == 2
        assert at.do("audit/check")["done"].startswith("The trail is intact: ")


def test_a_telephone_order_is_booked_once(console: ConsoleProcess, dealing: Dealing) -> None:
    typed = {"login": "client", "symbol": "GOLD", "side": "buy", "quantity": "1,000"}
    with console_client(console, dealing.office) as at:
        seen = at.see("ticket?login=client&symbol=GOLD&side=buy&quantity=1,000")
        assert "₹71,24,000.00" in seen
        order: dict[str, str] = {}

        def booked() -> bool:
            """Again if this machine is so slow that the lock runs out."""
            locked = at.send("ticket/lock", typed).json()["reveal"]
            order.update(at.fields(locked))
            return 'data-outcome="booked"' in at.send("ticket/book", order).json()["reveal"]

        until(booked, within_s=60)
        (placed,) = dealing.desk.all("/orders?source=desk")
        assert (placed["price"], placed["quantity"]) == (BUY_PRICE, "1000.0000")
        assert dealing.order(placed)["idempotency_key"] == order["key"]
        assert "Locked for the client" in at.see(f"orders/{placed['id']}")
        again = at.send("ticket/book", order).json()["reveal"]
        assert placed["id"] in again
        other = at.send("ticket/book", {**order, "quantity": "1001"}).json()["reveal"]
        assert 'data-outcome="denied"' in other
        assert len(dealing.desk.all("/orders?source=desk")) == 1


def test_slips_in_prices_ask(console: ConsoleProcess, office: Office) -> None:
    check_console_slips(console, office)
