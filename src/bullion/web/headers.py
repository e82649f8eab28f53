"""The headers of a request."""

from collections.abc import Mapping, Sequence

Headers = Sequence[tuple[bytes, bytes]]
"""Names, in small letters, and values, as they were sent."""

HeaderValues = Mapping[bytes, Sequence[bytes]]
"""All values of each name."""


def values_by_name(headers: Headers) -> HeaderValues:
    """For calls that look for several names: to search the headers for each costs more."""
    found: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        values = found.get(name)
        if values is None:
            found[name] = [value]
        else:
            values.append(value)
    return found
