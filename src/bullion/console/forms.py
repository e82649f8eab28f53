"""Forms of dialogs, declared field by field: from a field follow its HTML, its parsing and its error."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from bullion.desk import bodies
from bullion.desk.body_fields import body_fields
from bullion.desk.problems import find_problems
from bullion.refusals.desk import INVALID_BODY
from bullion.refusals.refusal import FieldError, RefusalError

from .html import Child, Html, el
from .widgets.formatting import MINUS, grouped, remove_grouping, trim_zeros

Values = Mapping[str, Any]
Options = Sequence[tuple[str, str]]
"""What a field offers: each with its value and its name."""


class FormErrors(RefusalError):
    """The form cannot be saved: each error is shown beside its field, and nothing was changed."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(INVALID_BODY, "Nothing was changed. Correct the marked fields.")
        self.by_field = errors


@dataclass(frozen=True, slots=True)
class Field:
    """A line of text. Its value is None where nothing was typed."""

    name: str
    label: Child
    hint: str | None = None
    required: bool = False
    placeholder: str | None = None
    kind: str = "text"
    """The browser's type of input."""
    rule: str | None = None
    """What may be typed, where the desk's message for programs would not help."""
    of: Any = None
    """The type that the value has in the body of the desk's action."""

    def html(self, value: Any = None, options: Options = ()) -> Html:
        return _labelled(self, self.control(value, options), _datalist(self, options))

    def control(self, value: Any, options: Options) -> Html:
        return el(
            "input",
            name=self.name,
            value=self.text(value),
            type=None if self.kind == "text" else self.kind,
            list=_list_id(self) if options else None,
            required=self.required,
            placeholder=self.placeholder,
            autocomplete="off",
            spellcheck="false",
        )

    def text(self, value: Any) -> str:
        """A value as the field shows it."""
        return "" if value is None else str(value)

    def read(self, typed: str) -> Any:
        """The value that was typed; a ValueError says what is wrong with it."""
        value = self.parse(typed)
        for error in [] if self.of is None else find_problems(value, self.of):
            raise ValueError(self.message(error))
        return value

    def parse(self, typed: str) -> Any:
        """May raise ValueError."""
        return typed

    def message(self, error: FieldError) -> str:
        return error.msg if error.type == "invalid" else self.rule or error.msg


@dataclass(frozen=True, slots=True)
class Code(Field):
    """A name as symbols, groups and instruments have them."""

    required: bool = True
    rule: str | None = "Use up to 32 letters, digits, dots, dashes and underscores."
    of: Any = bodies.Code


@dataclass(frozen=True, slots=True)
class Day(Field):
    kind: str = "date"

    def parse(self, typed: str) -> date:
        try:
            day = date.fromisoformat(typed)
        except ValueError:
            day = date.max
        if not 1900 <= day.year <= 9000:  # Beyond, some zone's midnight cannot be computed.
            raise ValueError(f"{typed[:30]!r} is not a date such as 2026-11-09.")
        return day


@dataclass(frozen=True, slots=True)
class Amount(Field):
    """A decimal number, kept as text so that it stays exact. Commas may group its digits."""

    def text(self, value: Any) -> str:
        """Grouped, so that a digit too many is seen."""
        return "" if value is None else grouped(trim_zeros(str(value))).replace(MINUS, "-")

    def parse(self, typed: str) -> str:
        return remove_grouping(typed.removeprefix("₹").strip())


@dataclass(frozen=True, slots=True)
class Count(Field):
    least: int = 0
    most: int = 0

    def parse(self, typed: str) -> int:
        plain = remove_grouping(typed)
        whole = plain.isascii() and plain.isdigit() and len(plain) < 12
        if not (whole and self.least <= int(plain) <= self.most):
            most = grouped(str(self.most))
            raise ValueError(f"{typed[:20]!r} is not a whole number from {self.least} to {most}.")
        return int(plain)


@dataclass(frozen=True, slots=True)
class Lines(Field):
    """Several values, one on each line."""

    rows: int = 6
    separator: str = r"\s*\n\s*"

    def control(self, value: Any, _options: Options) -> Html:
        return el("textarea", self.text(value), name=self.name, rows=self.rows, spellcheck="false")

    def text(self, value: Any) -> str:
        return "\n".join(value or ())

    def parse(self, typed: str) -> list[str]:
        return re.split(self.separator, typed)


@dataclass(frozen=True, slots=True)
class Choice(Field):
    """One of several, which the field itself names or the dialog."""

    options: Options = ()

    def control(self, value: Any, options: Options) -> Html:
        chosen = self.text(value)
        offered = [
            el("option", name, value=each, selected=each == chosen) for each, name in options or self.options
        ]
        return el("select", offered, name=self.name)


@dataclass(frozen=True, slots=True)
class OnOff(Choice):
    options: Options = (("yes", "on"), ("no", "off"))

    def text(self, value: Any) -> str:
        return "yes" if value else "no"

    def parse(self, typed: str) -> bool:
        return typed == "yes"


class Checkbox(Field):
    def html(self, value: Any = None, _options: Options = ()) -> Html:
        box = el("input", type="checkbox", name=self.name, value="yes", checked=bool(value))
        return el("label", box, el("span", self.label), _hint(self), class_="field tick")

    def parse(self, typed: str) -> bool:
        return typed == "yes"


class Hidden(Field):
    """Sent with the form, and not shown."""

    def html(self, value: Any = None, _options: Options = ()) -> Html:
        return el("input", type="hidden", name=self.name, value=self.text(value))


def field_of(
    shape: type[bodies.Body], name: str, label: Child = None, hint: str | None = None, **more: Any
) -> Field:
    """A field of a body as a field of a form. The body's type says what may be typed, and what must be."""
    field = body_fields(shape)[name]
    label, hint = label or field.title, hint or field.description
    if bool in field.kinds:
        return OnOff(name, label, hint, **more)
    more = {"required": not field.nullable, "of": field.shape, **more}
    if field.choices:
        return Choice(name, label, hint, **more)
    if int in field.kinds:
        least, most = field.bounds
        return Count(name, label, hint, least=least, most=most, **more)
    kind = Code if field.is_code else Amount if field.is_checked else Field
    return kind(name, label, hint, **more)


@dataclass(frozen=True, slots=True)
class Group:
    """Fields that stand together, in a row of this class or under a legend."""

    css: str
    parts: "Fields"
    only_if: tuple[str, str] | None = None
    """Read only where another field has this value; hidden elsewhere."""
    legend: "Hidden | str | None" = None
    """Gives the group its title; a field is that of errors about all of it."""


Fields = Sequence[Field | Group]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialog:
    """What a dialog says and asks, with what its fields hold when it opens."""

    title: str
    text: Sequence[Child] = ()
    confirm: str = "Save"
    danger: bool = False
    """Opens with Cancel focused."""
    wide: bool = False
    """With its fields in columns."""
    fields: Fields | None = None
    """None: those of the action."""
    values: Values = field(default_factory=dict)
    options: Mapping[str, Options] = field(default_factory=dict)
    """What fields offer, by the field's name."""
    details: Child = None
    """Between the text and the fields, such as a table."""
    previews: bool = True
    """Whether it shows the action's preview."""
    has_back: bool = False
    """Its first button goes back to the dialog before it, instead of closing."""


def dialog_html(dialog: Dialog, fields: Sequence[Child]) -> Html:
    """The frame puts it into a form that is sent to the action, with the CSRF token."""
    return el(
        "div",
        el("h2", dialog.title, id="dialog-title"),
        el("div", [el("p", each) for each in dialog.text], class_="explanation"),
        dialog.details,
        el("div", fields, class_="fields") if fields else None,
        el("p", class_="refused", role="alert", hidden=True),
        el(
            "div",
            el("button", "Go back and correct", type="button", data_back=True)
            if dialog.has_back
            else el("button", "Cancel", type="button", data_close=True),
            el("button", dialog.confirm, type="submit", class_="danger" if dialog.danger else "primary"),
            class_="buttons",
        ),
        class_="dialog broad" if dialog.wide else "dialog",
    )


def fields_html(fields: Fields, values: Values, options: Mapping[str, Options]) -> list[Html]:
    shown = []
    for each in fields:
        if isinstance(each, Field):
            shown.append(each.html(values.get(each.name), options.get(each.name, ())))
            continue
        # Browsers refuse to send a form with a required field that is hidden.
        parts = (
            each.parts
            if each.only_if is None
            else [replace(part, required=False) for part in flat(each.parts)]
        )
        parts_html = fields_html(parts, values, options)
        if each.legend is None:
            shown.append(el("div", parts_html, class_=each.css))
        else:
            legend, title = each.legend, each.legend.label if isinstance(each.legend, Field) else each.legend
            errors = legend.html() if isinstance(legend, Field) else None
            shown.append(el("fieldset", el("legend", title), errors, parts_html, class_=each.css or None))
    return shown


def read_fields(fields: Fields, form: Mapping[str, str]) -> dict[str, Any]:
    """The values of a form by name, or the errors of all its fields at once."""
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for each in flat(fields, form):
        typed = form.get(each.name, "").strip()
        try:
            if typed or isinstance(each, Checkbox):
                values[each.name] = each.read(typed)
            elif each.required:
                errors[each.name] = "Required."
            else:
                values[each.name] = None
        except ValueError as error:
            errors[each.name] = str(error)
    if errors:
        raise FormErrors(errors)
    return values


def errors_beside_fields(refused: RefusalError, fields: Fields) -> RefusalError:
    """The errors of a refusal beside their fields; the refusal itself where one is about no field."""
    legends = [each.legend for each in fields if isinstance(each, Group) and isinstance(each.legend, Field)]
    by_name: dict[str | int, Field] = {each.name: each for each in (*flat(fields), *legends)}
    errors: dict[str, str] = {}
    for each in refused.errors:
        found = next((by_name[part] for part in reversed(each.loc) if part in by_name), None)
        if found is None:
            return refused
        errors.setdefault(found.name, found.message(each))
    return FormErrors(errors) if errors else refused


def flat(fields: Fields, form: Mapping[str, str] | None = None) -> Iterator[Field]:
    """The fields without their groups; of conditional groups those that the form uses."""
    for each in fields:
        if isinstance(each, Field):
            yield each
        elif form is None or each.only_if is None or form.get(each.only_if[0]) == each.only_if[1]:
            yield from flat(each.parts, form)


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """What changed, each field before and after; empty where nothing did."""
    names = [*before, *(name for name in after if name not in before)]
    return "; ".join(
        f"{name} {before.get(name, '–')} → {after.get(name, '–')}".strip()
        for name in names
        if before.get(name, "–") != after.get(name, "–")
    )


def saved(subject: str, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The message that confirms a change."""
    changes = difference(before, after)
    return f"{subject}: {changes}." if changes else f"{subject}: nothing changed."


def _labelled(each: Field, *controls: Child) -> Html:
    return el("label", el("span", each.label), controls, _hint(each), class_="field")


def _hint(each: Field) -> Html | None:
    return el("small", each.hint) if each.hint else None


def _list_id(each: Field) -> str:
    return f"{each.name}-suggested"


def _datalist(each: Field, options: Options) -> Html | None:
    if not options or isinstance(each, Choice):
        return None
    return el("datalist", [el("option", value=value) for value, _ in options], id=_list_id(each))
