"""A whole node with a live feed: rates, desk calls and metrics. In this process, to hand it its sources."""

import asyncio
from pathlib import Path

import pytest

from bullion.desk.actions.feeds import list_feeds
from bullion.desk.actions.rates import list_rates
from bullion.market_demo.quote_server import QuoteServer
from bullion.rates.feeds.source_settings import FeedSettings, Fields, SourceInstrument, SourceSettings
from bullion.settings import Settings, WrongSetting
from bullion.wiring.node import open_node
from tests.support.node import SECRET

pytestmark = pytest.mark.anyio


def settings(tmp_path: Path) -> Settings:
    return Settings(database_url=f"sqlite:///{tmp_path}/bullion.db", feed="live", secret=SECRET)


def live_rates(port: int, **changed: str) -> FeedSettings:
    gold = SourceInstrument(instrument="XAUUSD", symbol="XAUUSD", lowest="1000", highest="20000")
    fields = Fields(items="/data", time="/time")
    polled = changed.get("kind") == "http"
    scheme = "http" if polled else "ws"
    return FeedSettings(
        sources=(
            SourceSettings(
                name="demo",
                kind="http" if polled else "websocket",
                url=f"{scheme}://127.0.0.1:{port}/quotes{changed.get('query', '')}",
                instruments=(gold,),
                fields=fields,
                secret_env=changed.get("secret_env"),
                poll_ms=200,
            ),
        )
    )


@pytest.mark.parametrize("kind", ["websocket", "http"])
async def test_a_node_prices_by_live_rates(tmp_path: Path, kind: str) -> None:
    async with (
        QuoteServer(seed=5, every_s=0.1).open() as server,
        open_node(settings(tmp_path), live_rates=live_rates(server.port, kind=kind)) as node,
    ):
        async with asyncio.timeout(60):
            while not (found := await list_rates(node.desk, node.first_actor)):
                await asyncio.sleep(0.05)
            while not any(row["published"] for row in await list_feeds(node.desk, node.first_actor)):
                await asyncio.sleep(0.05)
        assert [(rate["instrument"], rate["source"]) for rate in found] == [("XAUUSD", "feed")]


@pytest.mark.parametrize(
    ("sources", "sentence"),
    [
        (None, "there are no sources"),
        (live_rates(1, query="?key={secret}"), "secret_env and {secret} belong together"),
        (live_rates(1, query="?key={secret}", secret_env="NO_SUCH_VARIABLE"), "NO_SUCH_VARIABLE is not set"),
    ],
)
async def test_wrong_sources_stop_the_start_with_a_sentence(
    tmp_path: Path, sources: FeedSettings | None, sentence: str
) -> None:
    with pytest.raises(WrongSetting) as wrong:
        async with open_node(settings(tmp_path), live_rates=sources):
            pass
    assert sentence in str(wrong.value)
