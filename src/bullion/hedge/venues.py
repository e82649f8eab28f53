"""What each venue can do, by its name in the settings: the desk and the console have no adapter to ask."""

from .venue import BY_HAND, FIX, SIMULATED, VenueAbilities

_ABILITIES = {
    each.name: each
    for each in (
        VenueAbilities(SIMULATED, behaviour=True, partial=True),
        VenueAbilities(BY_HAND, by_hand=True, covers=True),
        VenueAbilities(FIX, partial=True, covers=True),
    )
}


def abilities_of(name: str) -> VenueAbilities:
    """A venue with another name, such as one that earlier requests were sent to, only covers."""
    return _ABILITIES.get(name) or VenueAbilities(name, covers=True)
