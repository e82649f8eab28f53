"""What each venue can do, by its name in the settings: the desk and the console have no adapter to ask."""

from .contract import DESK, Contract
from .venue import VenueAbilities

SIMULATED, BY_HAND, FIX = "simulated", "desk", "fix"

VENUES = {
    each.name: each
    for each in (
        VenueAbilities(SIMULATED, behaviour=True, partial=True),
        VenueAbilities(BY_HAND, by_hand=True, covers=True),
        VenueAbilities(FIX, partial=True, covers=True),
    )
}
"""By the name that BULLION_HEDGE gives."""


def abilities_of(name: str) -> VenueAbilities:
    """A venue with another name, such as one that earlier requests were sent to, only covers."""
    return VENUES.get(name) or VenueAbilities(name, covers=True)


def sendable(abilities: VenueAbilities, contract: Contract) -> bool:
    """Whether a cover in this contract can be sent to the venue. Otherwise it is dealt by telephone.

    The simulated venue deals every contract. A line declines a contract that names another line.
    """
    return sends_to(abilities, contract.venue)


def sends_to(abilities: VenueAbilities, venue: str) -> bool:
    """The same, by the name of the venue in the contract."""
    return abilities.behaviour or not (abilities.by_hand or venue == DESK)
