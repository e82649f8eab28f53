"""The demo as a reader starts it: what its banner prints is what the examples use."""

import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.command import environment
from tests.support.forked_process import start
from tests.support.node import own_transport, until

_LAST_LINE = "Ctrl+C stops the demo."
_TIME_TO_PASTE_S = 1.0
"""Whoever reads the banner is not that quick; the node hears of the venue's word on its symbols meanwhile."""
_RATES = {
    "GOLD": ("150463", "150480"),
    "GOLD995": ("149861", "149877"),
    "SILVER": ("300004", "300035"),
    "XAUUSD": ("4799.81", "4800.05"),
    "USDINR": ("92.0008", "92.0032"),
}
"""Near to where the simulated feed begins."""


@dataclass(frozen=True)
class Demo:
    banner: str

    def variables(self) -> dict[str, str]:
        """What a page asks its reader to keep: the addresses, the first client's keys, the desk's token."""
        address, key = self._found(r"Trading API +(\S+)"), self._found(r"test key +(\S+)")
        return {
            "API": address,
            "KEY": key,
            "BULLION_BASE_URL": address,
            "BULLION_API_KEY": key,
            "LIVE_KEY": self._found(r"live key +(\S+)"),
            "DESK": self._found(r"Desk API +(\S+)/desk/v1"),
            "DESK_TOKEN": self._found(r"Desk token +(\S+)"),
        }

    def open_production(self) -> None:
        """The switches that are left once the demo was started with the outermost one on."""
        with self.desk() as desk:
            desk.patch("/switches", json={"production": True}).raise_for_status()
            desk.patch("/accounts/aurum", json={"production_trading": True}).raise_for_status()
        # A node that has just started has not heard from its venue yet; a reader is not that quick.
        variables = self.variables()
        address = f"{variables['API']}/api/trading/v1/quotes?symbol_code=GOLD"
        with httpx.Client(
            headers={"X-API-Key": variables["LIVE_KEY"]},
            transport=own_transport(),
        ) as client:
            until(lambda: client.get(address).json()["items"][0]["tradable"], within_s=20)

    def stand_still(self) -> None:
        """Rates from the desk, which neither move nor age: a page can then show prices to the paisa."""
        with self.desk() as desk:
            for symbol in desk.get("/symbols").raise_for_status().json()["items"]:
                limits = {"rate_age_s_max": None, "freeze_after_s": None}
                desk.patch(f"/symbols/{symbol['code']}", json=limits).raise_for_status()
            for instrument, (bid, ask) in _RATES.items():
                desk.put(f"/rates/{instrument}", json={"bid": bid, "ask": ask}).raise_for_status()

    def desk(self) -> httpx.Client:
        token = self._found(r"Desk token +(\S+)")
        return httpx.Client(
            base_url=self._found(r"Desk API +(\S+)"),
            headers={"Authorization": f"Bearer {token}"},
            transport=own_transport(),
            timeout=20,
        )

    def _found(self, pattern: str) -> str:
        match = re.search(pattern, self.banner)
        assert match is not None, f"the demo prints nothing like {pattern}:\n{self.banner}"
        return match[1]


@contextmanager
def demo_in(folder: Path, **settings: str) -> Iterator[Demo]:
    """Start it, wait for its banner, and stop it again whatever happens."""
    out, log = folder / "demo.out", folder / "demo.log"
    given = environment(BULLION_PORT="0", BULLION_DESK_PORT="0", BULLION_CONSOLE_PORT="0", **settings)
    with out.open("wb") as stdout, log.open("wb") as stderr:
        process = start(["demo"], folder, given, stdout, stderr)
    try:
        until(lambda: _LAST_LINE in out.read_text("utf-8") or process.poll() is not None, within_s=60)
        assert process.poll() is None, log.read_text("utf-8")
        time.sleep(_TIME_TO_PASTE_S)
        yield Demo(out.read_text("utf-8"))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
