"""Times as clients and the desk read them: ISO 8601, UTC with its offset, microseconds."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant_text(at_us: int) -> str:
    return (EPOCH + timedelta(microseconds=at_us)).isoformat(timespec="microseconds")
