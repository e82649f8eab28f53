"""The live feed in the store: what its node says about it, and what the desk asks of it."""

import msgspec

from bullion.rates.feeds.live_runner import Controls, Preference, Release
from bullion.rates.feeds.source_settings import GuardNumbers
from bullion.rates.feeds.status import FeedStatus

from .engine import Engine, Transaction

_STATUS = "feed"
"""The name of the deployment's value that holds the status."""
_encode = msgspec.json.Encoder().encode


class StoredFeedControls:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def exchange(self, status: FeedStatus) -> Controls:
        async def body(transaction: Transaction) -> Controls:
            await transaction.run("put_deployment_value", _STATUS, _encode(status).decode())
            return await read_controls(transaction)

        return await self._engine.write("feed_controls", body)

    async def last_status(self) -> FeedStatus | None:
        return await self._engine.read("feed_status", read_status)


async def read_status(transaction: Transaction) -> FeedStatus | None:
    """None if no node has run a live feed, or another version wrote what this one cannot read."""
    found = await transaction.one("deployment_value", _STATUS)
    if found is None:
        return None
    try:
        return msgspec.json.decode(found["value"], type=FeedStatus)
    except msgspec.MsgspecError:
        return None


async def read_controls(transaction: Transaction) -> Controls:
    return Controls(
        {
            row["instrument"]: Preference(row["source"], row["at_us"])
            for row in await transaction.all("feed_preferences")
        },
        [
            Release(row["source"], row["instrument"], row["level_e6"], row["at_us"])
            for row in await transaction.all("feed_releases")
        ],
        {
            row["instrument"]: numbers
            for row in await transaction.all("feed_guards")
            if (numbers := guard_numbers(row["numbers"])) is not None
        },
    )


def guard_numbers(text: str) -> GuardNumbers | None:
    """None if they cannot be read: then those of the settings hold."""
    try:
        found = msgspec.json.decode(text, type=GuardNumbers)
    except msgspec.MsgspecError:
        return None
    return None if any(found.problems()) else found
