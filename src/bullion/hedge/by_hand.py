"""The venue `desk`: a person at the broker's desk covers each order, and confirms or refuses it."""

from collections.abc import Collection, Mapping, Sequence

from .venue import Asked, HedgeRequest, ListedExecution, Submitted, Tradeability, Unconfirmed

_WAITING = Unconfirmed("The desk has not confirmed or refused it yet.")


class VenueByHand:
    """It never has an answer of its own: the desk's word goes straight to the order."""

    async def submit(self, request: HedgeRequest) -> Submitted:  # noqa: ARG002 - the desk reads it from its queue
        return _WAITING

    async def ask(self, request: HedgeRequest) -> Asked:  # noqa: ARG002 - as above
        return _WAITING

    async def instruments(self, broker: str, named: Collection[str]) -> Mapping[str, Tradeability]:  # noqa: ARG002
        return dict.fromkeys(named, Tradeability.TRADABLE)

    async def executions(self, broker: str, after: str, limit: int) -> Sequence[ListedExecution]:  # noqa: ARG002
        """None: the desk's word and the order's change are one transaction. There is nothing to compare."""
        return ()
