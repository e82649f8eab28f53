"""Every page and dialog: no barriers that axe finds, in both themes, and no sideways scroll in any window.

The pages come from the console itself, and the dialogs from the buttons on them: new ones are included.
"""

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page

from bullion.console.pages import PAGES
from tests.support.browser import KeptBrowser
from tests.support.console import ConsoleProcess, Visitor, visitor
from tests.support.dealing import Dealing
from tests.support.desk import Caller, Office
from tests.support.node import Node

WIDTHS = (360, 390, 640, 768, 1280)
"""640 is a window of 1280 at 200 % zoom."""
pytestmark = pytest.mark.stacks_in_turn(only="postgres")

LONG = "g" * 32
DIALOG_WIDTHS = (360, 640, 1280)
"""A dialog is as wide as its content in every larger window."""
NO_COLOURS = """context => axe.run(context || document, {
  resultTypes: ["violations"], preload: false, rules: {"color-contrast": {enabled: false}},
})"""
ONLY_COLOURS = """async ([context, seen]) => {
  const root = context ? document.querySelector(context) : document.body;
  const known = new Set(seen);
  const named = (box) => [box.nodeName, box.className.baseVal ?? box.className,
    ...["aria-current", "aria-disabled", "aria-pressed", "aria-selected", "disabled", "type"]
      .map((name) => box.getAttribute(name))].join();
  const paths = new Map([[document.body, 0]]);
  const add = (sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0) | 0;
  const hash = (number, text) => [...text].reduce(add, number);
  const path = (box) => {
    if (!paths.has(box)) paths.set(box, hash(path(box.parentElement), named(box)));
    return paths.get(box);
  };
  const chosen = [];
  for (const box of root.querySelectorAll("*")) {
    const texts = [...box.childNodes].some((each) => each.nodeType === Node.TEXT_NODE && each.data.trim());
    if (!texts && !box.matches("input, select, textarea")) continue;
    const {color, backgroundColor, fontSize, fontWeight} = getComputedStyle(box);
    const key = hash(path(box), [color, backgroundColor, fontSize, fontWeight].join());
    if (known.has(key) || !box.checkVisibility()) continue;
    known.add(key);
    chosen.push(box);
  }
  const options = {resultTypes: ["violations"], preload: false, runOnly: ["color-contrast"]};
  const found = chosen.length ? await axe.run({include: chosen}, options) : {violations: []};
  return {violations: found.violations, seen: [...known]};
}"""
"""Of elements that are alike, with all that they are in, it looks at one: rows and frames repeat them."""
VIEWS = [f"/{page.name}{path}" for page in PAGES for path in page.views]
OUTSIDE = ["/second-factor", "/no-such-page"]
"""Pages that are no part of the list."""
TOO_WIDE = """() => {
  const width = document.documentElement.clientWidth;
  const within = (box) => box.closest(".scroll, .price-guard, .unseen, svg");
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll("body *")]
    .filter((box) => box.getBoundingClientRect().right > width + 1 && !within(box))
    .map((box) => `${box.nodeName}.${box.className}`).slice(0, 5).concat("the page scrolls sideways");
}"""
DIALOG_TOO_WIDE = """() => {
  const dialog = document.getElementById("dialog");
  const box = dialog.getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  if (dialog.scrollWidth <= dialog.clientWidth && box.left >= 0 && box.right <= width) return [];
  const inner = dialog.clientWidth + box.left;
  return [...dialog.querySelectorAll("*")].filter((each) => each.getBoundingClientRect().right > inner + 1)
    .map((each) => `${each.nodeName}.${each.className} ${each.name || ""}`).slice(0, 5).concat("the dialog");
}"""


class Sweep:
    def __init__(self, someone: Visitor, names: dict[str, str]) -> None:
        self.someone = someone
        self.page: Page = someone.page
        self._names = names
        self._seen: set[str] = set()
        self._seen_colours: dict[str, list[int]] = {"light": [], "dark": []}

    def open(self, view: str) -> None:
        self.page.set_viewport_size({"width": 1280, "height": 800})
        path = view.format_map({name: quote(value, safe="") for name, value in self._names.items()})
        self.page.goto(f"{self.someone.console.url}{path}")
        self.page.locator("main").wait_for()

    def barriers(self, context: str | None = None) -> list[str]:
        """What axe finds. The other theme differs in colours alone."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE_SCRIPT)
        found = _shown("", self.page.evaluate(NO_COLOURS, context)["violations"])
        for theme, seen in self._seen_colours.items():
            self.page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
            answer = self.page.evaluate(ONLY_COLOURS, [context, seen])
            self._seen_colours[theme] = answer["seen"]
            found += _shown(theme, answer["violations"])
        return found

    def too_wide(self, script: str = TOO_WIDE, widths: Sequence[int] = WIDTHS) -> dict[int, list[str]]:
        found = {}
        for width in widths:
            self.page.set_viewport_size({"width": width, "height": 740})
            found[width] = self.page.evaluate(script)
        return {width: boxes for width, boxes in found.items() if boxes}

    def new_dialogs(self) -> list[str]:
        """Addresses of dialogs that no page before had."""
        paths = self.page.locator("button[data-dialog]").evaluate_all(
            "all => all.map(each => each.dataset.dialog)"
        )
        new: dict[str, str] = {}
        for path in paths:
            new.setdefault(path.partition("?")[0], path)
        chosen = [path for action, path in new.items() if action not in self._seen]
        self._seen |= set(new)
        return chosen

    def open_dialog(self, path: str) -> None:
        self.page.set_viewport_size({"width": 1280, "height": 800})
        self.page.locator(f'button[data-dialog="{path}"]').first.click()
        self.page.locator("#dialog[open]").wait_for()

    def close_dialog(self) -> None:
        self.page.keyboard.press("Escape")
        self.page.locator("#dialog:not([open])").wait_for(state="attached")


def _shown(theme: str, violations: list[Any]) -> list[str]:
    return [
        f"{theme} {each['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for each in violations
        for node in each["nodes"][:3]
    ]


@pytest.fixture(scope="module")
def sweep(kept_browser: KeptBrowser, console: ConsoleProcess, node: Node, first: Caller) -> Iterator[Sweep]:
    """An admin over a broker with something on every page, and with names that are as long as they may be."""
    office = Office.open(node, first)
    dealing, desk = Dealing(office), office.desk
    desk.do("PUT", f"/groups/{LONG}", {"default_terms": {"buy_premium": "1"}})
    desk.do("PUT", "/rates/METAL", {"bid": "100", "ask": "101"})
    desk.do("PUT", "/duties/gold", [{"from": "2024-01-01", "rupees": "7500"}])
    desk.account(
        "w" * 40, group=LONG, firm_name="The Very Long Name of a Firm of Jewellers and Refiners & Sons"
    )
    answer = dealing.place()
    order = answer.json()
    desk.do("POST", f"/orders/{order['id']}/close")
    contract = {"metal": "gold", "instrument": "METAL", "lot": "100", "price_weight": "10"}
    desk.do("PATCH", "/hedge/book/gold", {"limit": "1000"})
    desk.do("PUT", f"/hedge/contracts/{LONG.upper()}", contract)
    cover = {"contract": LONG.upper(), "side": "buy", "quantity": "1", "idempotency_key": "k"}
    desk.do("POST", "/hedge/covers", cover)
    rule = {"kind": "age", "threshold": "36000", "contracts": [LONG.upper()]}
    desk.do("PUT", f"/hedge/book/gold/rules/{LONG}", rule)
    dealing.venue(mode="hold")
    dealing.placed(quantity="1000")
    request_id = answer.headers["x-request-id"]
    names = {"order_id": order["id"], "login_id": "client", "request_id": request_id, "symbol_code": "GOLD"}
    # Without motion: a colour that is on its way has no contrast of its own.
    with visitor(kept_browser.get(), console, reduced_motion="reduce") as someone:
        someone.expect_trouble("404")
        someone.open(str(office.admin_token["token"]))
        yield Sweep(someone, names)
    office.close()


@pytest.mark.parametrize("view", [*VIEWS, *OUTSIDE])
def test_a_page_and_its_dialogs(sweep: Sweep, view: str) -> None:
    sweep.open(view)
    problems: dict[str, object] = {"axe": sweep.barriers(), "too wide": sweep.too_wide()}
    sweep.page.set_viewport_size({"width": 1280, "height": 800})
    for path in sweep.new_dialogs():
        sweep.open_dialog(path)
        problems[f"axe in {path}"] = sweep.barriers("#dialog")
        problems[f"too wide in {path}"] = sweep.too_wide(DIALOG_TOO_WIDE, DIALOG_WIDTHS)
        sweep.close_dialog()
    assert {name: found for name, found in problems.items() if found} == {}


def test_of_elements_that_are_alike_one_is_looked_at_in_each_theme(sweep: Sweep) -> None:
    sweep.open("/no-such-page")
    sweep.page.locator("main").evaluate("main => main.innerHTML = '<p>grey</p>'.repeat(3)")
    grey = "all => all.forEach(each => each.style.cssText = 'color: #888; background: #777')"
    sweep.page.locator("main p").evaluate_all(grey)
    found = [each.partition(":")[0] for each in sweep.barriers("main")]
    assert found == ["light color-contrast", "dark color-contrast"]
    assert sweep.barriers("main") == []


def test_the_menu_of_a_telephone_and_the_log_in(sweep: Sweep, browser: Browser) -> None:
    sweep.open("/overview")
    sweep.page.set_viewport_size({"width": 360, "height": 740})
    sweep.page.get_by_role("button", name="More", exact=True).click()
    assert sweep.barriers() == []
    assert sweep.page.evaluate(TOO_WIDE) == []
    small = """all => all.map(each => [each.innerText, each.getBoundingClientRect()])
      .filter(([, box]) => box.width && (box.height < 44 || box.width < 44)).map(([text]) => text)"""
    assert sweep.page.locator(".thumb > *, #top button, #top a, #top summary").evaluate_all(small) == []
    with visitor(browser, sweep.someone.console, reduced_motion="reduce") as stranger:
        stranger.page.goto(f"{stranger.console.url}/login")
        outside = Sweep(stranger, {})
        assert outside.barriers() == []
        assert outside.too_wide() == {}
