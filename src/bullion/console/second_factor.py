"""Pages of the second factor: the code at log-in, setting it up, and turning it off.

They stand outside of the frame: people see them before the console is open to them.
"""

from urllib.parse import quote

from bullion.desk.second_factors import FactorStatus

from .frame import document
from .html import Child, Html, el
from .paths import SECOND_FACTOR
from .widgets.qr_code import qr_code

CODE_PATH = "/login/code"
BEGIN, CONFIRM, TURN_OFF = (f"{SECOND_FACTOR}/{each}" for each in ("begin", "confirm", "turn-off"))
_APP = "Any authenticator app works, such as Aegis, FreeOTP, Google Authenticator or 1Password."


def with_next(path: str, go_to: str) -> str:
    """The path with where to go on afterwards."""
    return path if go_to == "/" else f"{path}?next={quote(go_to, safe='')}"


def code_page(theme: str, csrf: str, go_to: str, error: str | None = None) -> bytes:
    text = "Enter the code that your authenticator app shows, or one of your recovery codes."
    content: list[Child] = [
        el("p", text),
        _error(error),
        _form(CODE_PATH, csrf, go_to, _code_field("Code"), el("button", "Log in", class_="primary")),
        _log_out(csrf),
        el("p", "Lost both? An admin of the desk can reset your second factor.", class_="hint"),
    ]
    return _page("Second factor", content, theme)


def status_page(theme: str, csrf: str, go_to: str, status: FactorStatus, error: str | None = None) -> bytes:
    if status.on:
        content = _on(csrf, go_to, status, error)
    elif status.setup is not None:
        content = _setup(csrf, go_to, status, error)
    else:
        content = _off(csrf, go_to, status, error)
    leave = _log_out(csrf) if status.required and not status.on else _back(go_to, "Back to the console")
    return _page("Second factor", [*content, leave], theme)


def codes_page(theme: str, go_to: str, codes: list[str]) -> bytes:
    content: list[Child] = [
        el("p", "The second factor is on. You need a code from your app at every log-in."),
        el("p", el("b", "Keep these recovery codes in a safe place. They are shown only now.")),
        el("ul", [el("li", el("code", each)) for each in codes], class_="codes"),
        el("p", "Each works once, in place of a code, when you do not have your telephone."),
        _back(go_to, "I have kept them, continue"),
    ]
    return _page("Recovery codes", content, theme)


def _off(csrf: str, go_to: str, status: FactorStatus, error: str | None) -> list[Child]:
    required = "Your broker requires a second factor for your role. Set it up to go on."
    return [
        el(
            "p",
            required if status.required else "The second factor is off. Your token alone opens the console.",
        ),
        el("p", f"With it, a log-in also needs a code from an app on your telephone. {_APP}"),
        _error(error),
        _form(BEGIN, csrf, go_to, el("button", "Set it up", class_="primary")),
    ]


def _setup(csrf: str, go_to: str, status: FactorStatus, error: str | None) -> list[Child]:
    setup = status.setup
    if setup is None:
        return []
    groups = " ".join(setup.secret[at : at + 4] for at in range(0, len(setup.secret), 4))
    return [
        el("p", f"Scan this code with your authenticator app. {_APP}"),
        qr_code(setup.address, "QR code with the key for your authenticator app"),
        el("p", "Or type this key into it:"),
        el("p", el("code", groups, class_="key")),
        el("p", "On the telephone itself, ", el("a", "open the app with the key", href=setup.address), "."),
        el("p", "Kind: by time, six digits, 30 seconds. Then enter the code that the app shows:"),
        _error(error),
        _form(CONFIRM, csrf, go_to, _code_field("Code"), el("button", "Turn it on", class_="primary")),
        _form(BEGIN, csrf, go_to, el("button", "Make another key", class_="quiet small")),
    ]


def _on(csrf: str, go_to: str, status: FactorStatus, error: str | None) -> list[Child]:
    shown: list[Child] = [
        el("p", f"The second factor is on. Recovery codes left: {status.recovery_codes}."),
        _error(error),
    ]
    if status.required:
        return [*shown, el("p", "Your broker requires it for your role. An admin can reset it.")]
    text = "To get another key or new recovery codes, turn it off and set it up again."
    button = el("button", "Turn it off", class_="danger")
    return [*shown, el("p", text), _form(TURN_OFF, csrf, go_to, _code_field("Code"), button)]


def _code_field(label: str) -> Html:
    field = el(
        "input",
        name="code",
        required=True,
        autofocus=True,
        autocomplete="one-time-code",
        spellcheck="false",
        maxlength=32,
    )
    return el("label", el("span", label), field, class_="field")


def _form(path: str, csrf: str, go_to: str, *content: Child) -> Html:
    hidden = [
        el("input", type="hidden", name=name, value=value)
        for name, value in (("csrf", csrf), ("next", go_to))
    ]
    return el("form", hidden, *content, method="post", action=path)


def _log_out(csrf: str) -> Html:
    return _form("/logout", csrf, "/", el("button", "Log out", class_="quiet small"))


def _back(go_to: str, text: str) -> Html:
    return el("p", el("a", text, href=go_to))


def _error(message: str | None) -> Html | None:
    return el("p", message, class_="refused", role="alert") if message else None


def _page(title: str, content: list[Child], theme: str) -> bytes:
    body = el("main", el("div", el("h1", title), content, class_="notice factor"), class_="login")
    return document(title, body, theme=theme)
