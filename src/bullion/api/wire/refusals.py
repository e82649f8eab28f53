"""The bodies of refusals. Each struct but `Problem` is the `detail` of a body."""

from typing import Annotated

from msgspec import Meta, Struct

from .orders import RejectedOrder
from .values import Uuid, about

PROBLEMS_MAX = 20
"""A body can have thousands of problems; the response lists this many."""
CLOSED_BY = ("deploy", "global", "account")
"""The switches of production trading, the widest first."""


class Refusal(Struct):
    """The body of a refusal. Some codes have a body of their own, with further fields."""

    code: Annotated[str, about("Stable, for programs. Branch on this.")]
    message: Annotated[str, about("For people. It may change.")]


class Problem(Struct):
    """One thing that is wrong with a request."""

    loc: Annotated[
        list[str],
        Meta(min_length=1),
        about(
            "Where it is: `header`, `query` or `body`, then the name of what is there.",
            ["body", "symbol_code"],
        ),
    ]
    msg: Annotated[str, about("What is wrong, for people. It may change.", "symbol_code is required.")]
    type: Annotated[str, about("What kind of problem it is, for programs.", "missing")]


class InvalidRequest(Refusal):
    """The refusal `invalid_request`, which also lists what is wrong and where."""

    errors: Annotated[
        list[Problem],
        Meta(min_length=1, max_length=PROBLEMS_MAX + 1),
        about(
            f"Every problem that was found, up to {PROBLEMS_MAX}. Where there are more, a last one of the "
            "type `more_problems` says how many."
        ),
    ]


class ProductionTradingDisabled(Refusal):
    """The refusal `production_trading_disabled`, which also names the switch that is off."""

    reason: Annotated[
        str,
        about(
            "Which switch is off, the widest first: `deploy`, that of the installation; `global`, that of "
            "the broker; `account`, that of the account.",
            enum=list(CLOSED_BY),
        ),
    ]


class EventsGone(Refusal):
    """The refusal `events_gone`, which also says which events are kept."""

    oldest: Annotated[int, Meta(ge=1), about("The number of the first event that is kept.")]
    newest: Annotated[int, Meta(ge=0), about("The number of the last event; read on after it.")]


class OrderRejected(Refusal):
    """The refusal `order_rejected`, which also shows the order that the hedge refused."""

    order_id: Annotated[Uuid, about("The `id` of the order.")]
    order: RejectedOrder
