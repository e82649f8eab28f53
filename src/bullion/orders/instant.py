"""Times as clients and the desk read and write them: ISO 8601, UTC with its offset, microseconds."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_instant_us(text: str) -> int | None:
    """Every form that Python reads; without a zone it is UTC. None if the text is not a time."""
    # Python ignores some characters, such as Arabic digits after the microseconds.
    if not (text.isascii() and text.isprintable()):
        return None
    try:
        instant = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        return None
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    # A difference cannot overflow at the ends of the calendar, as a conversion to another zone could.
    return (instant - EPOCH) // timedelta(microseconds=1)


def instant_text(at_us: int) -> str:
    return (EPOCH + timedelta(microseconds=at_us)).isoformat(timespec="microseconds")
