"""Buttons that ask first, and the dialogs that say what will happen."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Visit


def action_button(
    visit: Visit,
    page: str,
    action: Action,
    words: Child,
    *,
    about: Mapping[str, str] | None = None,
    kind: str = "",
    label: str | None = None,
) -> Html:
    """Opens the action's dialog; disabled, with the reason in words, for whoever may not do it.

    `about` is what it is about, such as the id of an order: it comes back in `visit.query`.
    """
    refused = None if visit.may(action.role) else why_not(visit, action)
    query = f"?{urlencode(about)}" if about else ""
    return el(
        "button",
        words,
        type="button",
        class_=kind or None,
        data_dialog=f"/dialogs/{quote(page)}/{quote(action.name)}{query}",
        aria_haspopup="dialog",
        aria_label=label,
        disabled=refused is not None,
        title=refused,
    )


def why_not(visit: Visit, action: Action) -> str:
    return f"This needs the role {action.role}; yours is {visit.actor.role}."


def dialog(
    title: str,
    explanation: Sequence[Child],
    *,
    confirm: str,
    danger: bool = False,
    fields: Sequence[Child] = (),
    broad: bool = False,
) -> Html:
    """The contents of an action's dialog: what will happen, what has to be typed, and the two ways out.

    The frame puts it into a form that is sent to the action, with the protection against forged requests.
    A broad one has its fields in columns.
    """
    return el(
        "div",
        el("h2", title, id="dialog-title"),
        el("div", [el("p", each) for each in explanation], class_="explanation"),
        el("div", fields, class_="fields") if fields else None,
        el("p", class_="refused", role="alert", hidden=True),
        el(
            "div",
            el("button", "Cancel", type="button", data_close=True),
            el("button", confirm, type="submit", class_="danger" if danger else "primary"),
            class_="buttons",
        ),
        class_="dialog broad" if broad else "dialog",
    )


def preview_place(
    page: str, action: Action, about: Mapping[str, str] | None = None, *, needed: bool = False
) -> Html:
    """Where the action's preview is shown, inside of its dialog.

    Where it is `needed`, the dialog can be confirmed only with a preview in sight of just what is typed, and
    without the mark `data_not_yet` in it.
    """
    query = f"?{urlencode(about)}" if about else ""
    path = f"/previews/{quote(page)}/{quote(action.name)}{query}"
    return el("div", class_="preview", data_preview=path, data_needed=needed, aria_live="polite")


def hidden(name: str, value: str) -> Html:
    """What goes with a form and is not for anybody to change."""
    return el("input", type="hidden", name=name, value=value)


def field(
    label: str,
    name: str,
    *,
    value: str = "",
    hint: str | None = None,
    required: bool = False,
    kind: str = "text",
    suggested: Sequence[str] = (),
) -> Html:
    """One line to type into, with its label and, below, what may be typed; `kind` is the browser's own."""
    offered = f"{name}-suggested" if suggested else None
    return el(
        "label",
        el("span", label),
        el(
            "input",
            name=name,
            value=value,
            type=None if kind == "text" else kind,
            list=offered,
            required=required,
            autocomplete="off",
            spellcheck="false",
        ),
        el("datalist", [el("option", value=each) for each in suggested], id=offered) if suggested else None,
        el("small", hint) if hint else None,
        class_="field",
    )


def lines(label: str, name: str, *, value: str = "", hint: str | None = None, rows: int = 6) -> Html:
    """Several lines to type into."""
    return el(
        "label",
        el("span", label),
        el("textarea", value, name=name, rows=rows, spellcheck="false"),
        el("small", hint) if hint else None,
        class_="field",
    )


def choice(
    label: str, name: str, options: Sequence[tuple[str, str]], *, value: str = "", hint: str | None = None
) -> Html:
    """One of several: each a value, and how it is called."""
    return el(
        "label",
        el("span", label),
        el(
            "select",
            [el("option", words, value=each, selected=each == value) for each, words in options],
            name=name,
        ),
        el("small", hint) if hint else None,
        class_="field",
    )


def tick(label: Child, name: str, *, on: bool = False, hint: str | None = None) -> Html:
    """Yes or no; what is ticked comes as `yes`."""
    box = el("input", type="checkbox", name=name, value="yes", checked=on)
    return el("label", box, el("span", label), el("small", hint) if hint else None, class_="field tick")


def copyable(text: str, name: str, *, label: str) -> Html:
    """A text to take along, with a button that copies it; where a browser does not let it, it is selected."""
    return el(
        "div",
        el("code", text, id=name, tabindex="0", aria_label=label),
        el("button", "Copy", type="button", data_copy=name, aria_label=f"Copy: {label}"),
        el("span", class_="copied", role="status"),
        class_="copyable",
    )


def shown_once(title: str, explanation: Sequence[Child], secret: str, *, label: str) -> Html:
    """What a dialog reveals and nobody can see again: it stays until somebody says that they have it."""
    return el(
        "div",
        el("h2", title, id="dialog-title"),
        copyable(secret, "secret", label=label),
        el("div", [el("p", each) for each in explanation], class_="explanation"),
        el(
            "div",
            el("button", "I have it, close", type="button", class_="primary", data_close=True),
            class_="buttons",
        ),
        class_="dialog",
        data_stay=True,
    )
