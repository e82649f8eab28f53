"""The venue `desk`: a person at the broker's desk hedges each order, and confirms or refuses it."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence

from .venue import (
    HedgeRequest,
    ListedExecution,
    OutcomeReport,
    StatusAnswer,
    SubmitAnswer,
    Tradeability,
    Unconfirmed,
    no_reports,
)
from .venues import BY_HAND, abilities_of

_WAITING = Unconfirmed("The desk has not confirmed or refused it yet.")


class VenueByHand:
    """Has no answers of its own: what the desk answers changes the order directly."""

    abilities = abilities_of(BY_HAND)

    async def submit(self, request: HedgeRequest) -> SubmitAnswer:  # noqa: ARG002 - the desk reads it from its queue
        return _WAITING

    async def order_status(self, request: HedgeRequest) -> StatusAnswer:  # noqa: ARG002 - as above
        return _WAITING

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:  # noqa: ARG002
        return dict.fromkeys(named, Tradeability.TRADABLE)

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:  # noqa: ARG002
        """None: the desk's answer and the order change in one transaction, so there is nothing to compare."""
        return ()

    def reports(self) -> AsyncIterator[OutcomeReport]:
        return no_reports()
