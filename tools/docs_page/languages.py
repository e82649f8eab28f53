"""A call in other languages: with our Python SDK, its command line and our TypeScript client.

The address and the key are in `BULLION_BASE_URL` and `BULLION_API_KEY`, as for the call with curl.
"""

from textwrap import dedent

PYTHON, CLI, TYPESCRIPT = "Python", "CLI", "TypeScript"
ORDER_ID = "01a1dd79-5ea2-7c31-8d52-6e1f0b94a7c3"

_PYTHON_HEAD = """\
from bullion_client import Client

client = Client()
"""
_TYPESCRIPT_HEAD = """\
import { BullionClient } from "bullion-client";

const { BULLION_BASE_URL: baseUrl, BULLION_API_KEY: apiKey } = process.env;
const client = new BullionClient({
  baseUrl: baseUrl!,
  apiKey: apiKey!,
  environment: "test",
});
"""

_PYTHON = {
    "get-me": "print(client.me())",
    "post-orders": """
        order = client.buy("GOLD", 100, client_order_id="desk-7-0042")
        print(order.id, order.status, order.price)
        """,
    "get-orders": """
        since = datetime.fromisoformat("2026-11-15T09:00:00+05:30")
        for order in client.orders(since=since):
            print(order.id, order.status)
        """,
    "get-orders-order_id": f'print(client.order("{ORDER_ID}"))',
    "get-positions": "print(client.positions().gold.free)",
    "get-symbols": """
        for symbol in client.symbols():
            print(symbol.symbol_code, symbol.minimum, symbol.step)
        """,
    "get-quotes": 'print(client.quote("GOLD").buy)',
    "get-quotes-stream": """
        import os

        import httpx

        address = os.environ["BULLION_BASE_URL"] + "/api/trading/test/v1/quotes/stream"
        headers = {"X-API-Key": os.environ["BULLION_API_KEY"]}
        with httpx.stream("GET", address, headers=headers, timeout=30) as answer:
            for line in answer.iter_lines():
                print(line)
        """,
    "get-events": """
        for event in client.events(after=0):
            print(event.number, event.type)
        """,
    "get-events-stream": """
        with client.stream() as events:
            for event in events:
                print(event.number, event.type)
        """,
}
_CLI = {
    "get-me": "bullion-client me",
    "post-orders": "bullion-client buy GOLD 100 --client-order-id desk-7-0042 --yes",
    "get-orders": "bullion-client orders --since 2026-11-15T09:00:00+05:30",
    "get-orders-order_id": f"bullion-client order {ORDER_ID}",
    "get-positions": "bullion-client positions",
    "get-symbols": "bullion-client symbols",
    "get-quotes": "bullion-client quote GOLD",
    "get-events": "bullion-client watch --after 0 --for 1",
    "get-events-stream": "bullion-client watch",
}
_TYPESCRIPT = {
    "get-me": "console.log(await client.me());",
    "post-orders": """
        const order = await client.buy("GOLD", "100", { clientOrderId: "desk-7-0042" });
        console.log(order.id, order.status, order.price);
        """,
    "get-orders": """
        const page = await client.orders({ limit: 20, since: "2026-11-15T09:00:00+05:30" });
        for (const order of page.items) console.log(order.id, order.status);
        """,
    "get-orders-order_id": f'console.log(await client.order("{ORDER_ID}"));',
    "get-positions": "console.log((await client.positions()).gold.free);",
    "get-symbols": """
        for (const symbol of await client.symbols()) {
          console.log(symbol.symbol_code, symbol.minimum, symbol.step);
        }
        """,
    "get-quotes": """
        const [quote] = await client.quotes("GOLD");
        console.log(quote?.buy);
        """,
    "get-quotes-stream": """
        for await (const quote of client.quoteStream()) console.log(quote.symbol_code, quote.buy, quote.sell);
        """,
    "get-events": """
        const page = await client.events({ after: 0 });
        for (const event of page.items) console.log(event.number, event.type);
        """,
    "get-events-stream": """
        for await (const event of client.stream()) console.log(event.number, event.type);
        """,
}


_WEBHOOK_ID = "wh_5d1f0a6c9be2774301c85e92"
_URL = "https://hooks.example.com/bullion"
_WEBHOOKS = {
    "post-webhooks": (
        f'client.webhooks.create("{_URL}", types=["order.opened"])',
        f'"POST", "/webhooks", {{ url: "{_URL}", types: ["order.opened"], description: "" }}',
    ),
    "get-webhooks": ("client.webhooks.list()", '"GET", "/webhooks"'),
    "get-webhooks-webhook_id": (f'client.webhooks.get("{_WEBHOOK_ID}")', f'"GET", "/webhooks/{_WEBHOOK_ID}"'),
    "patch-webhooks-webhook_id": (
        f'client.webhooks.update("{_WEBHOOK_ID}", enabled=False)',
        f'"PATCH", "/webhooks/{_WEBHOOK_ID}", {{ enabled: false }}',
    ),
    "delete-webhooks-webhook_id": (
        f'client.webhooks.delete("{_WEBHOOK_ID}")',
        f'"DELETE", "/webhooks/{_WEBHOOK_ID}"',
    ),
    **{
        f"{method.lower()}-webhooks-webhook_id-{name}": (
            f'client.webhooks.{name}("{_WEBHOOK_ID}")',
            f'"{method}", "/webhooks/{_WEBHOOK_ID}/{name}"',
        )
        for method, name in (
            ("POST", "rotate"),
            ("POST", "test"),
            ("GET", "attempts"),
            ("GET", "dead"),
            ("POST", "replay"),
        )
    },
}
for _anchor, (_in_python, _in_typescript) in _WEBHOOKS.items():
    _PYTHON[_anchor] = f"print({_in_python})"
    _TYPESCRIPT[_anchor] = f"console.log(await client.call({_in_typescript}));"

SHOWN = frozenset((*_PYTHON, *_CLI, *_TYPESCRIPT))
"""The anchors of the calls that are shown in other languages."""


def in_other_languages(anchor: str) -> dict[str, str]:
    """The call with this anchor, by language; empty for a call that no client has."""
    found: dict[str, str] = {}
    if anchor in _PYTHON:
        own = dedent(_PYTHON[anchor]).strip()
        found[PYTHON] = own if own.startswith("import") else f"{_PYTHON_HEAD}{own}"
        if "datetime" in own:
            found[PYTHON] = f"from datetime import datetime\n\n{found[PYTHON]}"
    if anchor in _CLI:
        found[CLI] = _CLI[anchor]
    if anchor in _TYPESCRIPT:
        found[TYPESCRIPT] = f"{_TYPESCRIPT_HEAD}{dedent(_TYPESCRIPT[anchor]).strip()}"
    return found
