"""The header by which a client of the test environment asks for an answer that is made up."""

from collections.abc import Sequence

from bullion.api.scenario import ANSWER_LOST, HEADER, askable
from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import RefusalCode

from .pieces import Json


def scenario_header(refusals: Sequence[RefusalCode]) -> Json:
    """For a call that can meet these refusals, in whichever environment."""
    names = [row.code for row in sorted(askable(refusals).values(), key=CATALOGUE.index)]
    return {
        "name": HEADER,
        "in": "header",
        "schema": {"type": "string", "minLength": 1, "maxLength": 200},
        "description": (
            "For accounts whose desk allows it: do nothing, and answer as in this scenario. That is the "
            "`code` of a refusal, production's included, with the body it has there; or "
            f"`{ANSWER_LOST}`, which ends the connection. `x-scenarios` lists the names. After a `;` may "
            "come what the scenario takes besides: `retry_after`, `reason`, `order=booked`, `until`. "
            "An extension: the API's specification does not have it, and production has no such header."
        ),
        "x-extension": True,
        "x-scenarios": [*names, ANSWER_LOST],
    }
