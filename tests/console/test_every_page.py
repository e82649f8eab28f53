"""Every page and dialog: no barriers that axe finds, in both themes, and no sideways scroll in any window.

The pages come from the console itself, and the dialogs from the buttons on them: new ones are included.
"""

from collections.abc import Iterator, Sequence
from urllib.parse import quote

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page

from bullion.console.pages import PAGES
from tests.support.console import ConsoleProcess, Visitor, visitor
from tests.support.dealing import Dealing
from tests.support.desk import Caller, Office
from tests.support.node import Node

WIDTHS = (360, 390, 640, 768, 1280)
"""640 is a window of 1280 at 200 % zoom."""
pytestmark = pytest.mark.stacks_in_turn(only="postgres")

LONG = "g" * 32
DIALOG_WIDTHS = (1280, 640, 360)
"""A dialog is as wide as its content in every larger window."""
BARRIERS = """async ([context, withFrame, seen]) => {
  const main = document.querySelector("main");
  const frame = [...document.body.children].filter((each) => !each.contains(main));
  const options = {resultTypes: ["violations"], preload: false};
  const looked = await axe.run(context || (withFrame ? document : {exclude: frame}),
    {...options, rules: {"color-contrast": {enabled: false}}});
  const found = looked.violations.map((each) => ["", each]);
  const root = context ? document.querySelector(context) : document.body;
  const texts = [...root.querySelectorAll("*")].filter((box) => box.matches("input, select, textarea") ||
    [...box.childNodes].some((each) => each.nodeType === Node.TEXT_NODE && each.data.trim()));
  const grounds = (box, known) => {
    if (!box) return "";
    if (!known.has(box)) {
      const {backgroundColor, backgroundImage, opacity} = getComputedStyle(box);
      const opaque = backgroundColor.startsWith("rgb(") && backgroundImage === "none" && opacity === "1";
      const own = `${backgroundColor} ${backgroundImage} ${opacity}`;
      known.set(box, opaque ? own : `${own} on ${grounds(box.parentElement, known)}`);
    }
    return known.get(box);
  };
  const hash = (text) => [...text].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0) | 0, 0);
  for (const theme of Object.keys(seen)) {
    document.documentElement.dataset.theme = theme;
    const known = new Map(), keys = new Set(seen[theme]), chosen = [];
    for (const box of texts) {
      const {color, fontSize, fontWeight, textShadow} = getComputedStyle(box);
      const key = hash([color, fontSize, fontWeight, textShadow, grounds(box, known)].join());
      if (keys.has(key) || !box.checkVisibility()) continue;
      keys.add(key);
      chosen.push(box);
    }
    seen[theme] = [...keys];
    if (!chosen.length) continue;
    const colours = await axe.run({include: chosen}, {...options, runOnly: ["color-contrast"]});
    found.push(...colours.violations.map((each) => [theme, each]));
  }
  return {seen, found: found.flatMap(([theme, {id, nodes}]) => nodes.slice(0, 3).map((node) =>
    `${theme} ${id}: ${node.html.slice(0, 160)} ${node.failureSummary.slice(0, 200)}`))};
}"""
"""The frame is the same on every page, and need not be looked at on each. Of texts in one colour and size, on
the same ground and on all that shows through it, one is looked at: rows and pages repeat them."""
VIEWS = [f"/{page.name}{path}" for page in PAGES for path in page.views]
ROOMY = ("/market", "/users", "/orders")
"""Where nothing of a table or card is cut off in a large window."""
FRAMES = ("/overview", "/second-factor")
"""Pages whose frame is looked at too."""
OUTSIDE = ["/second-factor", "/no-such-page"]
"""Pages that are no part of the list."""
CUT_OFF = """boxes => boxes.filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.className)"""
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
OPEN_DIALOG = """async (path) => {
  document.getElementById("dialog").close();
  document.querySelector(`button[data-dialog="${CSS.escape(path)}"]`).click();
  for (let waits = 0; !document.querySelector("#dialog[open]"); waits += 1) {
    if (waits > 1000) throw new Error(`${path} does not open`);
    await new Promise((done) => setTimeout(done, 20));
  }
}"""


class Sweep:
    def __init__(self, someone: Visitor, names: dict[str, str]) -> None:
        self.someone = someone
        self.page: Page = someone.page
        self.page.add_init_script(AXE_SCRIPT)
        self._names = names
        self._seen: set[str] = set()
        self._seen_colours: dict[str, list[int]] = {"light": [], "dark": []}
        self._width = 0

    def resize(self, width: int) -> None:
        if width != self._width:
            self.page.set_viewport_size({"width": width, "height": 800})
        self._width = width

    def open(self, view: str) -> None:
        self.resize(1280)
        path = view.format_map({name: quote(value, safe="") for name, value in self._names.items()})
        self.page.goto(f"{self.someone.console.url}{path}")
        self.page.locator("main").wait_for()
        # It need not refresh itself while it is looked at.
        self.page.evaluate("delete document.body.dataset.live")

    def barriers(self, context: str | None = None, *, frame: bool = False) -> list[str]:
        """What axe finds, with the frame or without. The other theme differs in colours alone."""
        return self._answered(BARRIERS, context, frame)

    def barriers_in_dialog(self, path: str) -> list[str]:
        """Opens the dialog, in place of one that is open."""
        opened = f"async ([path, ...given]) => {{ await ({OPEN_DIALOG})(path); return ({BARRIERS})(given); }}"
        return self._answered(opened, path, "#dialog", None)

    def _answered(self, script: str, *given: object) -> list[str]:
        answer = self.page.evaluate(script, [*given, self._seen_colours])
        self._seen_colours = answer["seen"]
        found: list[str] = answer["found"]
        return found

    def too_wide(self, script: str = TOO_WIDE, widths: Sequence[int] = WIDTHS) -> dict[int, list[str]]:
        found = {}
        for width in widths:
            self.resize(width)
            found[width] = self.page.evaluate(script)
        return {width: boxes for width, boxes in found.items() if boxes}

    def cut_off(self) -> dict[int, list[str]]:
        """What has no room in large windows, where nothing may need to scroll sideways."""
        found = {}
        for width in (1280, 1920):
            self.resize(width)
            parts = self.page.locator("html, .scroll, .switch, .bar, .card, .facts dd, .title")
            found[width] = parts.evaluate_all(CUT_OFF)
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


@pytest.fixture(scope="module")
def sweep(browser: Browser, console: ConsoleProcess, node: Node, first: Caller) -> Iterator[Sweep]:
    """An admin over a broker with something on every page, and with names that are as long as they may be."""
    office = Office.open(node, first)
    dealing, desk = Dealing(office), office.desk
    desk.do("PUT", f"/groups/{LONG}", {"default_terms": {"buy_premium": "1"}})
    desk.do("PUT", "/rates/METAL", {"bid": "100", "ask": "101"})
    desk.do("PUT", "/duties/gold", [{"from": "2024-01-01", "rupees": "7500"}])
    desk.account(
        "w" * 40, group=LONG, firm_name="The Very Long Name of a Firm of Jewellers and Refiners & Sons"
    )
    desk.do("POST", "/tokens", {"name": "x" * 40, "role": "viewer"})
    longest = {"quantity": "99999.9999", "client_order_id": "W" * 64, "source": "a" * 32}
    answer = dealing.place(login_id="usher", trade_type="sell", **longest)
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
    webhook = {"environment": "test", "url": f"https://{'w' * 60}.example.com/{'w' * 200}"}
    names = {
        "order_id": order["id"],
        "login_id": "client",
        "request_id": request_id,
        "symbol_code": "GOLD",
        "webhook_id": desk.do("POST", "/accounts/client/webhooks", webhook)["webhook_id"],
    }
    # Without motion: a colour that is on its way has no contrast of its own.
    with visitor(browser, console, reduced_motion="reduce") as someone:
        someone.expect_trouble("404")
        someone.open(str(office.admin_token["token"]))
        yield Sweep(someone, names)
    office.close()


@pytest.mark.parametrize("view", [*VIEWS, *OUTSIDE])
def test_a_page_and_its_dialogs(sweep: Sweep, view: str) -> None:
    sweep.open(view)
    problems: dict[str, object] = {"axe": sweep.barriers(frame=view in FRAMES), "too wide": sweep.too_wide()}
    if view.startswith(ROOMY):
        problems["cut off"] = sweep.cut_off()
    widths = DIALOG_WIDTHS
    for path in sweep.new_dialogs():
        problems[f"axe in {path}"] = sweep.barriers_in_dialog(path)
        problems[f"too wide in {path}"] = sweep.too_wide(DIALOG_TOO_WIDE, widths)
        widths = widths[::-1]
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
    sweep.open("/find")
    sweep.resize(360)
    sweep.page.get_by_role("button", name="More", exact=True).click()
    assert sweep.barriers(frame=True) == []
    assert sweep.page.evaluate(TOO_WIDE) == []
    small = """all => all.map(each => [each.innerText, each.getBoundingClientRect()])
      .filter(([, box]) => box.width && (box.height < 44 || box.width < 44)).map(([text]) => text)"""
    assert sweep.page.locator(".thumb > *, #top button, #top a, #top summary").evaluate_all(small) == []
    with visitor(browser, sweep.someone.console, reduced_motion="reduce") as stranger:
        outside = Sweep(stranger, {})
        outside.open("/login")
        assert outside.barriers(frame=True) == []
        assert outside.too_wide() == {}
