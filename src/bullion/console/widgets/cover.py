"""Words about the cover of orders. Where the venue is simulated, nothing covers them, and pages say so."""

from bullion.console.html import Html, el
from bullion.console.page import Visit
from bullion.desk.actions.health import NOTHING_COVERED

from . import components


def is_simulated(visit: Visit) -> bool:
    return not visit.desk.venue.covers


def simulated_note(visit: Visit) -> Html | None:
    """For everything that speaks of cover. None where orders are covered."""
    if not is_simulated(visit):
        return None
    return el("span", components.mark(components.SIMULATED), NOTHING_COVERED, class_="simulated")


def cover_sentence(visit: Visit) -> str:
    """What happens to a live order, for dialogs that allow them."""
    if is_simulated(visit):
        return f"{NOTHING_COVERED}. The simulated venue confirms each order, and nobody buys or sells for it."
    if visit.desk.venue.by_hand:
        return "Each order waits until the desk has covered it and confirms it, and becomes a deal then."
    return "Each order is covered at the venue and becomes a deal."
