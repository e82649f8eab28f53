"""The quote server without the extra `market`: calls over HTTP are answered, a WebSocket is refused."""

import sys

import httpx
import pytest

from bullion.market_demo.quote_server import QuoteServer

pytestmark = pytest.mark.anyio


async def test_http_needs_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "websockets.asyncio.server", None)
    monkeypatch.delitem(sys.modules, "bullion.market_demo.quote_websocket", raising=False)
    monkeypatch.delattr("bullion.market_demo.quote_websocket", raising=False)
    async with QuoteServer(seed=3).open() as server, httpx.AsyncClient(trust_env=False) as client:
        address = f"http://127.0.0.1:{server.port}"
        answer = await client.get(f"{address}/quotes?key=1")
        assert "XAUUSD" in {each["symbol"] for each in answer.json()["data"]}
        assert (await client.get(f"{address}/nowhere")).status_code == 404
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket"}
        refused = await client.get(f"{address}/quotes", headers=upgrade)
        assert (refused.status_code, "extra 'market'" in refused.text) == (501, True)
        assert (await client.get(f"{address}/fault/cut")).text == "cut\n"
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(f"{address}/quotes")
