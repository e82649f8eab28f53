"""What differs from venue to venue, and what a line to one is."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from .codec import BEGIN
from .pace import Rate
from .schedule import Timetable
from .session_effects import Role, SessionSettings


class Credentials(StrEnum):
    """Where the Logon carries the password."""

    USERNAME = "username"
    """553 and 554."""
    RAW_DATA = "raw_data"
    """95 and 96, with the user name in 553 if there is one."""
    NONE = "none"


class UnknownForm(StrEnum):
    """How the venue answers a question about an order that it does not know."""

    REPORT = "report"
    """ExecutionReport with 39=8 and 103=5."""
    REJECT = "reject"
    """Session Reject (35=3) that names the question by 45."""


class OrderType(StrEnum):
    MARKET = "market"
    LIMIT = "limit"
    """At our reference, `slippage_bps` to the worse."""


class TimeInForce(StrEnum):
    FOK = "fok"
    """All or nothing."""
    IOC = "ioc"
    """What can be filled at once."""


class SymbolForm(StrEnum):
    SYMBOL = "symbol"
    """55."""
    SECURITY_ID = "security_id"
    """48 and 22."""


class OrderIdForm(StrEnum):
    """How our order id becomes a ClOrdID."""

    UUID = "uuid"
    BASE62 = "base62"
    """22 letters and digits."""
    NUMBER = "number"
    """A number of the line, for a venue that takes few characters."""


class StatusQuestion(StrEnum):
    ORDER = "order"
    """OrderStatusRequest (35=H)."""
    MASS = "mass"
    """OrderMassStatusRequest (35=AF), where H does not answer for finished orders. The venue must say in 911
    how many reports its answer has."""


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a venue's rules of engagement say. The defaults are the careful choice."""

    name: str = ""
    begin: str = BEGIN
    heartbeat_s: int = 30
    reset_on_logon: bool = True
    """Both sides begin with number 1 at every logon. Otherwise numbers are kept."""
    may_reset: bool = True
    """Kept numbers: whether one logon with 141=Y is allowed after the sides disagreed on them."""
    numbers_by_window: bool = False
    """Kept numbers: whether they begin with 1 whenever the timetable opens the line."""
    credentials: Credentials = Credentials.USERNAME
    logon_fields: tuple[tuple[int, str], ...] = ()
    """Further fields of the Logon."""
    header_fields: tuple[tuple[int, str], ...] = ()
    """Further fields of every header, such as 50 and 57."""
    sending_time_s: int = 120
    logon_s: int = 10

    refuses_doubles: bool = False
    """Whether the venue itself refuses a ClOrdID that it had before (39=8, 103=6)."""
    unknown: UnknownForm = UnknownForm.REPORT
    unknown_after_s: float = 5
    """An answer that an order is unknown proves it only if asked this long after the order was sent."""
    status_question: StatusQuestion = StatusQuestion.ORDER
    echoes_question: bool = True
    """Whether answers to a question carry its 790 (or 584)."""
    order_type: OrderType = OrderType.LIMIT
    slippage_bps: int = 50
    time_in_force: TimeInForce = TimeInForce.FOK
    symbol: SymbolForm = SymbolForm.SYMBOL
    security_id_source: str = "8"
    """22, if instruments are named by 48."""
    order_id: OrderIdForm = OrderIdForm.UUID
    report_ms: int = 1500
    """How long a new order waits for a final report before it counts as unconfirmed."""

    rate: Rate = Rate(count=20)
    """What may be sent, questions included; heartbeats are not counted."""
    rate_logout: tuple[str, ...] = ("too many", "rate limit", "message rate", "throttl")
    """Words of a Logout that was sent because of too many messages."""
    rate_logout_s: int = 15
    """How long to stay away after it, at least."""

    def problems(self) -> Iterable[str]:
        """What does not fit together in it, as sentences."""
        if self.status_question is StatusQuestion.MASS and not self.echoes_question:
            yield 'status_question = "mass" needs echoes_question = true: without 584 no answer is complete'

    def is_rate_logout(self, text: str) -> bool:
        return any(word in text.lower() for word in self.rate_logout)


RESETTING = Profile(name="resetting", refuses_doubles=True)
"""Numbers begin anew at every logon; orders are all-or-nothing limits; doubled ids are refused."""

KEEPING = Profile(
    name="keeping",
    reset_on_logon=False,
    numbers_by_window=True,
    credentials=Credentials.RAW_DATA,
    unknown=UnknownForm.REJECT,
    echoes_question=False,
    order_type=OrderType.MARKET,
    time_in_force=TimeInForce.IOC,
    symbol=SymbolForm.SECURITY_ID,
    order_id=OrderIdForm.BASE62,
    rate=Rate(count=100, per_s=10),
)
"""Numbers are kept from window to window; the opposite of `RESETTING` in everything else, too."""

EXAMPLES = {each.name: each for each in (RESETTING, KEEPING)}


class Tls(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The venue's certificate is always verified."""

    server_name: str = ""
    """The name in its certificate, if it is not the host."""
    ca_file: str = ""
    """Certificates to trust instead of the system's."""
    cert_file: str = ""
    """Our own certificate, and its key, if the venue asks for them."""
    key_file: str = ""


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One FIX session at a venue. It belongs to one broker."""

    name: str
    broker: str
    host: str
    port: int
    sender: str
    target: str
    profile: Profile = RESETTING
    tls: Tls | None = Tls()
    """None only for a tunnel or a venue on this machine."""
    username: str = ""
    password_env: str = ""
    """The environment variable that has the password."""
    account: str = ""
    timetable: Timetable = Timetable()


def session_settings(line: Line, password: str = "") -> SessionSettings:
    profile = line.profile
    user = ((553, line.username),) if line.username else ()
    secret: tuple[tuple[int, str], ...] = ()
    if password and profile.credentials is Credentials.USERNAME:
        secret = ((554, password),)
    elif password and profile.credentials is Credentials.RAW_DATA:
        secret = ((95, str(len(password.encode("latin-1")))), (96, password))
    return SessionSettings(
        sender=line.sender,
        target=line.target,
        role=Role.INITIATOR,
        begin=profile.begin,
        heartbeat_s=profile.heartbeat_s,
        reset_on_logon=profile.reset_on_logon,
        logon_fields=(*profile.logon_fields, *user, *secret),
        header_fields=profile.header_fields,
        sending_time_s=profile.sending_time_s,
        logon_s=profile.logon_s,
    )
