"""Takes every picture, or those that are named, and writes the page that shows them."""

import base64
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from playwright.sync_api import Browser, Page

from bullion.keys.totp import STEP_S, code_at
from tests.support.browser import chromium
from tools import small_png

from .catalogue import DESK, FOLDER, GALLERY, PICTURES, THEMES, Picture, gallery, without_picture
from .demo import Demo, started
from .morning import held_quotes, pass_morning, trading_hours

_SETTLE_S = 1.5
"""Charts are drawn, and what is read in the background is there."""
_HIGHEST = {1280: 1800, 390: 2600}
_STATES: dict[str, Callable[[Demo], AbstractContextManager[None]]] = {
    "market-hours": trading_hours,
    "market-held": held_quotes,
}
"""In which some pictures are taken."""
_STRANGERS = ("login", "code", "public-page")
"""Pictures of what people see who are not logged in."""


class Camera:
    """A window of one size and theme, with an admin logged in."""

    def __init__(self, browser: Browser, demo: Demo, size: tuple[int, int], theme: str) -> None:
        self._browser, self._demo, self._size, self._theme = browser, demo, size, theme
        self._page = self._shown = self._opened()
        self._log_in(self._page, demo.token)
        self._page.wait_for_selector("#main")

    def _opened(self) -> Page:
        width, height = self._size
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if self._theme == "dark" else "light",
            reduced_motion="reduce",
        )
        return context.new_page()

    def _log_in(self, page: Page, token: str) -> None:
        page.goto(f"{self._demo.console}/login")
        page.fill("input[name=token]", token)
        page.click("button.primary")

    def show(self, picture: Picture, names: dict[str, str]) -> None:
        """Open what the picture shows: as an admin, or as somebody who is not logged in."""
        self._shown = page = self._opened() if picture.name in _STRANGERS else self._page
        match picture.name:
            case "login":
                page.goto(f"{self._demo.console}/login")
            case "code":
                self._log_in(page, names["dealer"])
                page.wait_for_url("**/login/code")
            case "public-page":
                page.goto(f"{self._demo.api}/rates")
            case name:
                path = (picture.path or picture.view).format_map(names)
                page.goto(f"{self._demo.console}{path}")
                self._act(page, name)

    def _act(self, page: Page, name: str) -> None:
        match name:
            case "second-factor":
                set_up = page.get_by_role("button", name="Set it up")
                if set_up.count():  # Not in the windows after the first.
                    set_up.click()
            case "market-symbol":
                page.get_by_role("button", name="Edit GOLDLANDED", exact=True).click()
            case "market-statement":
                self._compare_statement(page)

    def _compare_statement(self, page: Page) -> None:
        """With a trade that the venue forgot, and one that only the venue has."""
        columns, _, *trades = self._demo.statement().splitlines()
        only_there = {"execution_id": "E9001", "symbol": "GOLD/INR", "side": "buy", "quantity": "2"}
        extra = ",".join(({"price": "150512"} | only_there).get(each, "") for each in columns.split(","))
        page.get_by_role("button", name="Compare a statement").click()
        dialog = page.get_by_role("dialog")
        dialog.locator("[name=venue]").fill("spot")
        dialog.locator("[name=day]").fill(datetime.now(ZoneInfo("Asia/Kolkata")).date().isoformat())
        dialog.locator("[name=csv]").fill("\n".join([columns, *trades, extra]))
        dialog.get_by_role("button", name="Compare").click()
        page.locator(".statement").wait_for()

    def take(self, picture: Picture) -> None:
        page, (width, height) = self._shown, self._size
        if picture.whole:
            needed = page.evaluate("document.documentElement.scrollHeight")
            page.set_viewport_size({"width": width, "height": max(height, min(needed, _HIGHEST[width]))})
        path = FOLDER / picture.file(self._size, self._theme)
        small_png.write(self._browser, page.screenshot(), path)
        print(f"{path.name}: {path.stat().st_size // 1024} KiB", flush=True)
        if page is not self._page:
            page.context.close()
        elif picture.whole:
            page.set_viewport_size({"width": width, "height": height})

    def check_trail(self) -> None:
        self._page.goto(f"{self._demo.console}/audit")
        self._page.get_by_role("button", name="Check the trail").click()
        self._page.get_by_role("dialog").get_by_role("button", name="Check the trail").click()
        self._page.wait_for_selector("#outcome .state.ok")

    def turn_second_factor_on(self, token: str) -> None:
        page = self._opened()
        self._log_in(page, token)
        page.goto(f"{self._demo.console}/second-factor")
        page.get_by_role("button", name="Set it up").click()
        key = page.locator("code.key").inner_text().replace(" ", "")
        secret = base64.b32decode(key + "=" * (-len(key) % 8))
        page.get_by_label("Code", exact=True).fill(code_at(secret, int(time.time()) // STEP_S))
        page.get_by_role("button", name="Turn it on").click()
        page.get_by_role("heading", name="Recovery codes").wait_for()
        page.context.close()


def main() -> None:
    missing = without_picture()
    if missing:
        sys.exit(f"Add a picture to tools/screenshots/catalogue.py for: {', '.join(missing)}")
    chosen = [each for each in PICTURES if each.name in sys.argv[1:] or not sys.argv[1:]]
    sizes = sorted({size for picture in PICTURES for size in picture.sizes})
    with tempfile.TemporaryDirectory() as folder, started(Path(folder)) as demo, chromium() as browser:
        cameras = {size: [Camera(browser, demo, size, theme) for theme in THEMES] for size in sizes}
        names = {"symbol_code": "GOLD", **pass_morning(demo)}
        first = cameras[DESK][0]
        first.check_trail()
        first.turn_second_factor_on(names["dealer"])
        for picture in chosen:
            used = [camera for size in picture.sizes for camera in cameras[size]]
            with _STATES[picture.name](demo) if picture.name in _STATES else nullcontext():
                for camera in used:
                    camera.show(picture, names)
                time.sleep(_SETTLE_S)
                for camera in used:
                    camera.take(picture)
    GALLERY.write_text(gallery(), "utf-8")


if __name__ == "__main__":
    main()
