"""The login page: the browser sends a desk token once, and gets a session."""

from .frame import document
from .html import el

_CONTINUE = "Log in to continue where you were. A session ends when the console is restarted."


def login_page(*, theme: str, go_to: str, error: str | None = None) -> bytes:
    body = el(
        "main",
        el(
            "form",
            el("h1", "The desk"),
            el("p", "Log in with your desk token. It is not stored: this browser gets a session."),
            el("p", error, class_="refused", role="alert") if error else None,
            el("p", _CONTINUE, class_="hint") if go_to != "/" and not error else None,
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
                "No token? An admin of the desk can create one: ",
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
