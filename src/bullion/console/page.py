"""What a page and an action of the console are. Pages are listed in `pages`; the frame does the rest."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from bullion.desk.desk import Desk
from bullion.records.token import Actor, Role
from bullion.refusals.desk import INVALID_BODY
from bullion.refusals.refusal import RefusalError

from .html import Html
from .watch import BrokerWatch, News


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """What holds for everybody at this console."""

    production: bool
    """Whether the deployment is open to production at all."""
    late_s: int
    """From this age on a hedge that waits is late."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A page or an action as somebody asks for it: who, with which words, and what is known by now."""

    desk: Desk
    actor: Actor
    watch: BrokerWatch
    news: News
    settings: ConsoleSettings
    rest: tuple[str, ...]
    """What follows the page's name in the path, such as the id of an order."""
    query: Mapping[str, str]
    form: Mapping[str, str]
    """What was typed and chosen in a dialog; empty for a page."""
    csrf: str
    request_id: str

    @property
    def zone(self) -> ZoneInfo:
        """The broker's: times are shown in it."""
        return self.news.zone

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    def may(self, role: Role) -> bool:
        return self.actor.role.includes(role)


class Redirect(Exception):
    """What was asked for has an address of its own: the browser is sent there. Not for live looks."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@dataclass(frozen=True, slots=True)
class Result:
    """What an action came to, in words; `reveal` is shown in the dialog until it is closed."""

    words: str
    reveal: Html | None = None
    go_to: str | None = None
    ask_again: Html | None = None
    """Nothing was done yet: another dialog in place of the first, sent to the same action."""


class FormErrors(RefusalError):
    """What somebody typed cannot be taken: what is wrong stands beside each field, and nothing was done."""

    def __init__(self, troubles: Mapping[str, str]) -> None:
        super().__init__(INVALID_BODY, "Nothing was changed. Look at what is marked.")
        self.troubles = troubles
        """Words by the name of the field."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something that changes something: asked for in a dialog that says what will happen, then done.

    `do` calls an action of `bullion.desk.actions`, which looks at the role again and writes the audit entry.
    `role` is for the button alone: who may not do it sees it disabled, with the reason.
    """

    name: str
    role: Role
    ask: Callable[[Visit], Awaitable[Html]]
    """The dialog's contents: see `widgets.dialog.dialog`."""
    do: Callable[[Visit], Awaitable[Result]]
    preview: Callable[[Visit], Awaitable[Html]] | None = None
    """What would come of what is typed so far. It is asked while somebody types, and must change nothing."""


@dataclass(frozen=True, slots=True)
class Page:
    name: str
    """Its path is a slash and this. The first page is also what the console opens with."""
    title: str
    render: Callable[[Visit], Awaitable[Html]]
    live_s: int | None = None
    """How often it looks anew by itself; None: when it is opened."""
    actions: tuple[Action, ...] = ()
    parts_max: int = 0
    """How many parts may follow its name in the path; with more there is no such page."""
