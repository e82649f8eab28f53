"""Pages and actions of the console: what each declares, and the request that it answers."""

from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar
from urllib.parse import quote, urlencode
from zoneinfo import ZoneInfo

from bullion.desk.desk import Desk, View, require
from bullion.desk.price_confirmation import PricesUnconfirmed
from bullion.desk.registry import Work, role_of
from bullion.records.token import Actor, Role
from bullion.refusals.refusal import RefusalError

from .browser_request import FORM_BYTES_MAX, BrowserRequest
from .forms import (
    Dialog,
    Fields,
    FormErrors,
    Values,
    dialog_html,
    errors_beside_fields,
    fields_html,
    read_fields,
)
from .html import Child, Html, el
from .price_question import confirmation, price_question
from .shared_read import EVERY_S, Reading
from .watch import BrokerWatch, FrameState

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    production: bool
    """Whether the deployment accepts production orders at all."""
    late_s: int
    """A hedge that has waited this long is late."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One request of a person who is logged in: for a page, a dialog, a preview or an action."""

    desk: Desk
    actor: Actor
    watch: BrokerWatch
    frame: FrameState
    settings: ConsoleSettings
    request: BrowserRequest
    params: Mapping[str, str]
    """Of the path, such as the id of an order."""
    form: Mapping[str, str]
    """The fields of a dialog as they were sent; empty for a page."""
    csrf: str
    request_id: str
    values: Values = field(default_factory=dict)
    """The fields of an action's form, parsed."""

    @property
    def zone(self) -> ZoneInfo:
        """The broker's time zone: times are shown in it."""
        return self.frame.zone

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    @property
    def waiting(self) -> int:
        """How many orders wait for a person: all where the desk is the venue, otherwise the late ones."""
        rows, total = self.frame.queue.value or ([], 0)
        if self.desk.venue.by_hand:
            return total
        return sum(each["age_s"] >= self.settings.late_s or partly_covered(each) for each in rows)

    def has_role(self, role: Role) -> bool:
        return self.actor.role.includes(role)

    def param(self, name: str) -> str:
        """A parameter of the address; empty where it is missing."""
        return self.request.query.get(name, "")

    async def read(
        self, key: Hashable, read: Callable[[Desk, Actor], Awaitable[T]], every_s: float = EVERY_S
    ) -> Reading[T]:
        """A read of the store that all open pages of the broker share; `key` identifies it among them."""
        return await self.watch.shared(key, read, every_s).get(self.actor)


class Redirect(Exception):
    """Sends the browser to another address. Pages that refresh by themselves must not raise it."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@dataclass(frozen=True, slots=True)
class Result:
    """What an action did, as a message; `reveal` is shown in the dialog until it is closed."""

    message: str
    reveal: Html | None = None
    go_to: str | None = None
    confirm: Dialog | None = None
    """Nothing was done yet: this dialog replaces the first, and is sent to the same action."""


@dataclass(frozen=True, slots=True)
class Action:
    """A change, made in a dialog that says first what will happen."""

    page: str
    name: str
    label: str
    """The text of its button."""
    work: Work | None
    """The action of the desk that `do` calls: its role is needed here too. None: only reads."""
    ask: Callable[[Visit], Awaitable[Dialog]]
    do: Callable[[Visit], Awaitable[Result]]
    fields: Fields = ()
    """Parsed before `do` is called, which finds them in `visit.values`."""
    changes: str | Mapping[str, object] | None = None
    """The field of the desk's body that it changes, or that with its value, where the role depends on it."""
    check: Callable[[Visit], Awaitable[Mapping[str, str]]] | None = None
    """More errors, by field, such as a name that exists; told together with those of what was typed."""
    preview: Callable[[Visit], Awaitable[Html]] | None = None
    """Shown while the user types. It must change nothing."""
    form_bytes_max: int = FORM_BYTES_MAX
    """More only for a form that takes a file."""
    preview_required: bool = False
    """The dialog can be confirmed only with a preview of exactly what was typed."""

    @property
    def role(self) -> Role:
        if self.work is None:
            return Role.VIEWER
        return role_of(self.work, {self.changes: None} if isinstance(self.changes, str) else self.changes)

    def button(
        self,
        visit: Visit,
        about: Mapping[str, str] | None = None,
        *,
        text: Child = None,
        kind: str = "",
        label: str | None = None,
    ) -> Html:
        """Opens the dialog; locked, with the reason beside it, for people whose role is too low.

        `about` identifies what is changed, such as an order: `visit.param` returns it.
        """
        if not visit.has_role(self.role):
            return locked_button(
                text or self.label,
                f"needs the role {self.role}",
                name=f"why-{self.path('dialogs', about)}",
                kind=kind,
                label=label,
            )
        return el(
            "button",
            text or self.label,
            type="button",
            class_=kind or None,
            data_dialog=self.path("dialogs", about),
            aria_haspopup="dialog",
            aria_label=label,
        )

    async def dialog(self, visit: Visit) -> Html:
        return self.dialog_html(await self.ask(visit), visit)

    async def perform(self, visit: Visit) -> Result:
        require(visit.actor, self.role)
        values = await self._read(visit)
        desk = replace(visit.desk, confirm=confirmation(visit.form))
        try:
            return await self.do(replace(visit, values=values, desk=desk))
        except RefusalError as refused:
            if isinstance(refused, PricesUnconfirmed):
                return Result("", confirm=price_question(refused, visit.form))
            raise errors_beside_fields(refused, self.fields) from refused

    async def _read(self, visit: Visit) -> Values:
        try:
            return read_fields(self.fields, visit.form)
        except FormErrors as errors:
            more = {} if self.check is None else await self.check(visit)
            raise FormErrors({**more, **errors.by_field}) from errors

    def dialog_html(self, dialog: Dialog, visit: Visit) -> Html:
        fields = self.fields if dialog.fields is None else dialog.fields
        shown: list[Child] = [*fields_html(fields, dialog.values, dialog.options)]
        if self.preview is not None and dialog.previews:
            path = self.path("previews", visit.request.query)
            needed = self.preview_required
            shown.append(
                el("div", class_="preview", data_preview=path, data_needed=needed, aria_live="polite")
            )
        return dialog_html(dialog, shown)

    def path(self, kind: str, about: Mapping[str, str] | None = None) -> str:
        query = f"?{urlencode(about)}" if about else ""
        return f"/{kind}/{self.page}/{self.name}{query}"


def locked_button(text: Child, why: str, *, name: str, kind: str = "", label: str | None = None) -> Html:
    """A button that does nothing now. It can be reached, and the reason stands beside it.

    `name` is the id of the reason, and must be the only one of its page.
    """
    name = quote(name, safe="")
    button = el(
        "button",
        text,
        type="button",
        class_=kind or None,
        aria_label=label,
        aria_disabled="true",
        aria_describedby=name,
    )
    return el("span", button, " ", el("small", why, class_="why", id=name), class_="locked")


Render = Callable[[Visit], Awaitable[Html]]


@dataclass(frozen=True, slots=True)
class Page:
    name: str
    """Its path is a slash and this. The console opens with the first page."""
    title: str
    views: Mapping[str, Render]
    """By what follows in the path: `""`, or such as `/{order_id}`, which is then in `visit.params`."""
    live_s: int | None = None
    """How often it refreshes by itself; None: only when it is opened."""
    actions: tuple[Action, ...] = ()
    role: Role = Role.VIEWER
    """The lowest role that sees it."""
    in_menu: bool = True
    """Whether the navigation shows it."""


def partly_covered(waiting: View) -> bool:
    """Whether the venue filled a part of the order, and the desk must decide about the rest."""
    rest = waiting["rest"]
    return rest is not None and rest["state"] == "partly_covered"
