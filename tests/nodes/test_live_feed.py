"""A node whose rates come from a source that the market file names: a process of its own, which may die."""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.fix_node import ServerProcess
from tests.support.metrics import metrics_of
from tests.support.node import Node, running, until
from tests.support.orders import Market, booked, refused
from tests.support.servers import free_port

PATIENCE_S = 30.0
AGE_S_MAX = 3
SOURCE = """\
[sources.demo]
kind = "websocket"
url = "ws://127.0.0.1:{port}/quotes"
fields = {{ items = "/data", time = "/time" }}
instruments = [{{ instrument = "GOLD", symbol = "GOLD", lowest = "100000", highest = "200000" }}]
"""


@pytest.fixture
def source() -> Iterator[tuple[ServerProcess, int]]:
    port = free_port()
    with ServerProcess("quote_server", "--port", str(port)) as server:
        yield server.start(), port


def test_rates_come_from_the_source_until_it_dies(source: tuple[ServerProcess, int], tmp_path: Path) -> None:
    server, port = source
    path = tmp_path / "market.toml"
    path.write_text(SOURCE.format(port=port), "utf-8")
    settings = {"BULLION_FEED": "live", "BULLION_MARKET": str(path)}
    with running(tmp_path, **settings) as node, Market.open(node) as market:
        market.live("LIVE", pricing={"kind": "direct", "instrument": "GOLD"}, rate_age_s_max=AGE_S_MAX)
        market.live("NONE", pricing={"kind": "direct", "instrument": "SILVER"})
        trader = market.trader()
        until(lambda: trader.quote("LIVE")["reason"] is None, within_s=PATIENCE_S)
        seen: list[str] = []

        def is_one_of_its_prices() -> bool:
            """Prices move four times a second, so the one that both have is waited for."""
            (gold,) = (each for each in prices(port) if each["symbol"] == "GOLD")
            seen.append(f"{Decimal(gold['ask']):.2f}")
            return trader.quote("LIVE")["buy"] in seen

        until(is_one_of_its_prices, within_s=PATIENCE_S)
        booked(trader.place(symbol_code="LIVE"))
        refused(trader.place(symbol_code="NONE"), "no_live_price")

        until(lambda: source_up(node) == 1, within_s=PATIENCE_S)
        server.kill()
        until(lambda: source_up(node) == 0, within_s=PATIENCE_S)
        until(lambda: trader.quote("LIVE")["reason"] == "stale_rate", within_s=PATIENCE_S)
        refused(trader.place(symbol_code="LIVE"), "stale_rate")
        until(lambda: "source away" in feed_lights(market).get("demo", ""), within_s=PATIENCE_S)

        server.start()
        until(lambda: trader.quote("LIVE")["reason"] is None, within_s=PATIENCE_S)
        booked(trader.place(symbol_code="LIVE"))


def source_up(node: Node) -> float | None:
    """What monitoring is told of the source."""
    return metrics_of(node).get('bullion_feed_source_up{source="demo"}')


def prices(port: int) -> list[dict[str, Any]]:
    """What the source says now, without rounding."""
    answer = httpx.get(f"http://127.0.0.1:{port}/quotes")
    quotes: list[dict[str, Any]] = json.loads(answer.text, parse_float=str)["data"]
    return quotes


def feed_lights(market: Market) -> dict[str, str]:
    """What the desk's health call says of each source and instrument."""
    lights = market.desk.do("GET", "/health")["items"]
    return {each["name"]: each["text"] for each in lights if each["part"] == "feed"}
