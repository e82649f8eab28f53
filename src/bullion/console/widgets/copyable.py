"""Texts that a dealer copies, such as a key that is shown once."""

from collections.abc import Sequence

from bullion.console.html import Child, Html, el


def copyable(text: str, name: str, *, label: str) -> Html:
    """A text with a button that copies it; where the browser does not allow that, the text is selected."""
    return el(
        "div",
        el("code", text, id=name, tabindex="0", aria_label=label),
        el("button", "Copy", type="button", data_copy=name, aria_label=f"Copy: {label}"),
        el("span", class_="copied", role="status"),
        class_="copyable",
    )


def shown_once(title: str, explanation: Sequence[Child], secret: str, *, label: str) -> Html:
    """A secret in a dialog that stays open until somebody closes it by its button."""
    close = el("button", "I have copied it, close", type="button", class_="primary", data_close=True)
    return el(
        "div",
        el("h2", title, id="dialog-title"),
        copyable(secret, "secret", label=label),
        el("div", [el("p", each) for each in explanation], class_="explanation"),
        el("div", close, class_="buttons"),
        class_="dialog",
        data_stay=True,
    )
