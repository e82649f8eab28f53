"""Pictures of the console's pages over a demo with a busy morning's data: both themes, desk and phone.

`python -m tools.screenshots` writes docs/pictures/console-<page>-<width>-<theme>.png, and the page that
shows them.
"""

import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from playwright.sync_api import Browser, Page

from tests.support.browser import chromium
from tests.support.command import environment
from tests.support.node import until
from tools import small_png

_FOLDER = Path(__file__).resolve().parents[1] / "docs/pictures"
_SIZES = ((1280, 800), (390, 844))
_LARGE = (1920, 1080)
"""Of the overview alone."""
_THEMES = ("light", "dark")
_LAST_LINE = "Ctrl+C stops the demo."
_ROUNDS = 60
_BETWEEN_ROUNDS_S = 2.0
"""Meanwhile the overview is open, for its small charts to have a course."""
_BETWEEN_HEDGES_S = 12.0
_PAGES = {
    "overview": ("overview", "The overview"),
    "rates": ("rates", "The rate board"),
    "chart": ("rates/GOLD?span=1d", "The chart of a symbol"),
    "ticket": ("ticket?login=kalyani&symbol=GOLD&side=buy&quantity=100", "The order ticket"),
    "orders": ("orders?environment=production", "The blotter"),
    "order": ("orders/{deal}", "One order"),
    "decision": ("orders/decision/{refused}", "A refusal, and why"),
    "refusals": ("refusals", "Refusals"),
    "find": ("find?q=ka", "The search"),
    "accounts": ("accounts", "Accounts"),
    "account": ("accounts/kalyani", "One account"),
    "market": ("market", "The market's symbols"),
    "audit": ("audit", "The audit trail"),
    "users": ("users", "Users"),
}
"""By the name of the picture: the path and the title."""
_GALLERY = _FOLDER.parent / "console-pictures.md"
_CLIENTS = {
    "kalyani": ("Kalyani Jewels", "retail"),
    "shubham": ("Shubham & Sons", "trade"),
    "meenakshi": ("Meenakshi Gold Palace", "trade"),
}


class Demo:
    def __init__(self, banner: str) -> None:
        self._banner = banner
        self.api, self._desk_url = self.said(r"Trading API +(\S+)"), self.said(r"Desk API +(\S+)")
        self.console, self.token = self.said(r"Console +(\S+)"), self.said(r"Desk token +(\S+)")
        self._client = httpx.Client(timeout=20, trust_env=False)

    def said(self, pattern: str) -> str:
        found = re.search(pattern, self._banner)
        if found is None:
            raise LookupError(f"the demo prints nothing like {pattern}")
        return found[1]

    def desk(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = self._client.request(method, f"{self._desk_url}{path}", json=body, headers=headers)
        answer.raise_for_status()
        return answer.json()

    def order(self, key: str, symbol: str, side: str, quantity: float) -> int:
        base = "/api/trading/test/v1" if key.startswith("key_test.") else "/api/trading/v1"
        body = {"symbol_code": symbol, "trade_type": side, "quantity": quantity}
        headers = {"X-API-Key": key, "Idempotency-Key": str(uuid4())}
        return self._client.post(f"{self.api}{base}/orders", json=body, headers=headers).status_code

    def add_sample_data(self) -> list[str]:
        """A broker in the middle of a morning; the keys of its clients, live and test."""
        budgets = {
            "orders_per_minute": 6000,
            "orders_per_10_seconds": 1000,
            "account_orders_per_minute": 6000,
        }
        self.desk("PATCH", "/switches", {"production": True, "budgets": budgets})
        keys = []
        for login_id, (firm, group) in _CLIENTS.items():
            body = {"login_id": login_id, "firm_name": firm, "group": group, "production_trading": True}
            self.desk("POST", "/accounts", {**body, "allocation": {"gold": "5000", "silver": "400"}})
        for login_id in _CLIENTS:
            for kind in ("production", "test"):
                scopes = ["account:read", "orders:read", "orders:write"]
                key = {"environment": kind, "name": "trading program", "scopes": scopes}
                keys.append(self.desk("POST", f"/accounts/{login_id}/keys", key)["key"])
        self._hand_out_keys()
        gold = self.desk("GET", "/symbols")["items"][0]
        kept = {name: gold[name] for name in ("metal", "quoted_weight", "minimum", "maximum", "step")}
        fixed = {"kind": "fixed", "buy": "154200.00", "sell": "149800.00"}
        self.desk("PUT", "/symbols/COIN10", {**kept, "pricing": fixed, "frozen": True})
        missing = {"kind": "direct", "instrument": "MUMBAI"}
        self.desk("PUT", "/symbols/GOLDMUMBAI", {**kept, "pricing": missing})
        return keys

    def _hand_out_keys(self) -> None:
        """Keys in every state that a desk meets, and accounts that are not like the others."""
        soon = (datetime.now(UTC) + timedelta(days=6)).isoformat()
        scopes = ["account:read", "orders:read"]
        old = {"environment": "production", "name": "back office", "scopes": scopes}
        rotated = self.desk("POST", "/accounts/kalyani/keys", old)["key_id"]
        self.desk("POST", f"/keys/{rotated}/rotate", {"allowed_addresses": ["203.0.113.0/24"]})
        old = {**old, "name": "price board", "expires_at": soon}
        self.desk("POST", "/accounts/kalyani/keys", old)
        lost = self.desk("POST", "/accounts/kalyani/keys", {**old, "name": "lost laptop"})["key_id"]
        self.desk("POST", f"/keys/{lost}/revoke")
        self.desk("PATCH", "/accounts/shubham", {"allocation": {"gold": "430", "silver": "30"}})
        self.desk("PATCH", "/accounts/meenakshi", {"allocation": {"gold": "1200"}})
        body = {"login_id": "navrang", "firm_name": "Navrang Bullion", "group": "retail", "scenarios": True}
        self.desk("POST", "/accounts", {**body, "allocation": {"gold": "500"}})
        self.desk("PATCH", "/accounts/navrang", {"active": False, "allocation": {"silver": "25"}})

    def trade(self, keys: list[str], number: int) -> None:
        """What comes within a moment; the number tells one moment from another."""
        for each, key in enumerate(keys):
            side = "sell" if (number + each) % 3 == 0 else "buy"
            self.order(key, ("GOLD", "GOLD995", "GOLDLANDED")[number % 3], side, 5 + 5 * (number % 7))
        self.order(keys[0], "SILVER", "sell" if number % 2 else "buy", 2 + number % 3)
        if number % 4 == 0:
            self.order(keys[2], "GOLD", "buy", 9000)
            self.order(keys[1], "COIN10", "buy", 10)
            self.order(keys[4], "GOLDMUMBAI", "buy", 10)

    def about_one_thing(self) -> dict[str, str]:
        """The ids of a deal that is being closed, and of a refused request."""
        about = "/orders?environment=production&symbol_code=GOLDLANDED&status=open&limit=1"
        deal = self.desk("GET", about)["items"][0]["id"]
        self.desk("POST", f"/orders/{deal}/close")
        refused = self.desk("GET", "/traces?outcome=limit_exceeded&limit=1")["items"][0]["request_id"]
        return {"deal": deal, "refused": refused}


@contextmanager
def _demo(folder: Path) -> Iterator[Demo]:
    out = folder / "out"
    given = environment(
        BULLION_PORT="0", BULLION_DESK_PORT="0", BULLION_CONSOLE_PORT="0", BULLION_PRODUCTION="on"
    )
    with out.open("wb") as stdout, (folder / "log").open("wb") as stderr:
        command = [sys.executable, "-m", "bullion", "demo"]
        process = subprocess.Popen(command, cwd=folder, env=given, stdout=stdout, stderr=stderr)
    try:
        until(lambda: _LAST_LINE in out.read_text("utf-8") or process.poll() is not None, within_s=60)
        yield Demo(out.read_text("utf-8"))
    finally:
        process.terminate()
        process.wait(timeout=30)


def _store_past_rates(folder: Path) -> None:
    """A day of made-up minutes for the charts, in the demo's store. The demo itself has just begun."""
    (store,) = folder.rglob("bullion.db")
    steps = random.Random(1)  # noqa: S311 - no secret
    now_s = int(time.time()) // 60 * 60
    rows = []
    for symbol, price in (
        ("GOLD", 150_450),
        ("GOLD995", 149_850),
        ("GOLDLANDED", 150_560),
        ("SILVER", 299_900),
    ):
        close = price
        for minute in range(1, 24 * 60):
            opened = close + steps.randint(-30, 30)
            high, low = max(opened, close) + steps.randint(0, 9), min(opened, close) - steps.randint(0, 9)
            begins_s = now_s - minute * 60
            prices = [10_000 * each for each in (opened, high, low, close)]
            rows.append(("demo", symbol, "minute", begins_s, *prices, begins_s * 10**6, begins_s * 10**6 + 1))
            close = opened
    with closing(sqlite3.connect(store, timeout=30)) as connection, connection:
        connection.executemany(
            "INSERT OR IGNORE INTO rate_candles VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
        )


def _opened(browser: Browser, demo: Demo, size: tuple[int, int], theme: str) -> Page:
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if theme == "dark" else "light"
    )
    page = context.new_page()
    page.goto(f"{demo.console}/login")
    page.fill("input[name=token]", demo.token)
    page.click("button.primary")
    page.wait_for_selector("#main")
    return page


def _picture(browser: Browser, page: Page, name: str, size: tuple[int, int], theme: str) -> None:
    path = _FOLDER / f"console-{name}-{size[0]}-{theme}.png"
    small_png.write(browser, page.screenshot(), path)
    print(f"{path.name}: {path.stat().st_size // 1024} KiB")


def _check_trail(demo: Demo, page: Page) -> None:
    page.goto(f"{demo.console}/audit")
    page.get_by_role("button", name="Check the trail").click()
    page.get_by_role("dialog").get_by_role("button", name="Check the trail").click()
    page.wait_for_selector("#outcome .state.ok")


def _market_pictures(browser: Browser, demo: Demo, page: Page) -> None:
    """The set-up of the market has more to show than its first tab."""
    week = {day: [["09:00", "23:30"]] for day in ("mon", "tue", "wed", "thu", "fri")}
    hours = {
        "zone": "Asia/Kolkata",
        "week": {**week, "sat": [["10:00", "14:00"]]},
        "holidays": ["2027-01-26"],
    }
    demo.desk("PATCH", "/switches", {"trading_hours": hours})
    shown = {
        "market-symbol": ("market/symbols", "Edit GOLDLANDED"),
        "market-groups": ("market/groups", None),
        "market-hours": ("market/hours", None),
    }
    for name, (path, button) in shown.items():
        page.goto(f"{demo.console}/{path}")
        if button is not None:
            page.get_by_role("button", name=button, exact=True).click()
        page.wait_for_timeout(1500)
        _picture(browser, page, name, _SIZES[0], _THEMES[0])
    demo.desk("PATCH", "/switches", {"trading_hours": None})


def _gallery() -> str:
    """The page that shows every picture."""
    lines = [
        "# Pictures of the console",
        "",
        "Every page in both themes, on a desk and on a phone. `make screenshots`",
    ]
    lines += ["takes them over a [demo](../README.md) with made-up clients and a simulated market.", ""]
    for name, (_, title) in _PAGES.items():
        lines += [f"## {title}", ""]
        for width, _height in (*_SIZES, _LARGE) if name == "overview" else _SIZES:
            where = {390: "on a phone", 1280: "on a desk", 1920: "on a large screen"}[width]
            for theme in _THEMES:
                alt = f"{title} {where}, {theme} theme"
                lines += [f"![{alt}](pictures/console-{name}-{width}-{theme}.png)", ""]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, _demo(Path(folder)) as demo, chromium() as browser:
        _store_past_rates(Path(folder))
        keys = demo.add_sample_data()
        pages = {
            (size, theme): _opened(browser, demo, size, theme)
            for size in (*_SIZES, _LARGE)
            for theme in _THEMES
        }
        for number in range(_ROUNDS):
            demo.trade(keys, number)
            time.sleep(_BETWEEN_ROUNDS_S)
        demo.desk("PATCH", "/hedge", {"mode": "hold"})
        for number, key in enumerate(keys[::2]):
            demo.order(
                key, ("GOLD", "SILVER", "GOLD995")[number], ("buy", "sell", "buy")[number], 10 + number * 5
            )
            demo.order(keys[1], "GOLD", "buy", 10)
            time.sleep(_BETWEEN_HEDGES_S)
        _check_trail(demo, next(iter(pages.values())))
        about = demo.about_one_thing()
        for name, (path, _) in _PAGES.items():
            for (size, theme), page in pages.items():
                if size == _LARGE and name != "overview":
                    continue
                page.goto(f"{demo.console}/{path.format(**about)}")
                page.wait_for_timeout(1500)
                _picture(browser, page, name, size, theme)
        _GALLERY.write_text(_gallery(), "utf-8")
        _market_pictures(browser, demo, pages[_SIZES[0], _THEMES[0]])
        demo.desk("PATCH", "/hedge", {"mode": "fill"})


if __name__ == "__main__":
    main()
