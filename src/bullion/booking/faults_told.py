"""What a production booking that a store fault ended is called, so that the client knows what to do."""

from bullion.faults import NotCompleted, OutcomeUnknown, StoreBusy, StoreConflict, StoreFault
from bullion.refusals.catalogue import (
    BOOKING_BUSY,
    BOOKING_CONFLICT,
    BOOKING_NOT_COMPLETED,
    BOOKING_OUTCOME_UNKNOWN,
    BOOKING_UNAVAILABLE,
)
from bullion.refusals.refusal import Refused

_RETRY_AFTER_S = 2


def booking_refused(fault: StoreFault) -> Refused:
    match fault:
        case StoreBusy():
            return Refused(BOOKING_BUSY, retry_after_s=_RETRY_AFTER_S)
        case StoreConflict():
            return Refused(BOOKING_CONFLICT)
        case NotCompleted():
            return Refused(BOOKING_NOT_COMPLETED, retry_after_s=_RETRY_AFTER_S)
        case OutcomeUnknown():
            return Refused(BOOKING_OUTCOME_UNKNOWN, retry_after_s=_RETRY_AFTER_S)
        case _:
            return Refused(BOOKING_UNAVAILABLE)
