"""The page at the door: a token is shown once, and the browser gets a session in its place."""

from .frame import document
from .html import el

_TO_GO_ON = "To go on where you were, log in: a session also ends when the console is started anew."


def login_page(*, theme: str, go_to: str, trouble: str | None = None) -> bytes:
    body = el(
        "main",
        el(
            "form",
            el("h1", "The desk"),
            el("p", "Log in with your desk token. It is not kept: this browser gets a session for the day."),
            el("p", trouble, class_="refused", role="alert") if trouble else None,
            el("p", _TO_GO_ON, class_="hint") if go_to != "/" and not trouble else None,
            el(
                "label",
                el("span", "Desk token"),
                el(
                    "input",
                    type="password",
                    name="token",
                    required=True,
                    autofocus=True,
                    autocomplete="off",
                    spellcheck="false",
                ),
                class_="field",
            ),
            el("input", type="hidden", name="next", value=go_to),
            el("button", "Log in", class_="primary"),
            el(
                "p",
                "No token? An admin of the desk makes one: ",
                el("code", "bullion desk tokens create"),
                ".",
                class_="hint",
            ),
            method="post",
            action="/login",
        ),
        class_="login",
    )
    return document("Log in", body, theme=theme)
