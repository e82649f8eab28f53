"""What a production booking that a store fault ended is called, so that the client knows what to do."""

from bullion.faults import NotCompleted, OutcomeUnknown, StoreBusy, StoreConflict, StoreFault
from bullion.refusals.catalogue import (
    BOOKING_BUSY,
    BOOKING_CONFLICT,
    BOOKING_NOT_COMPLETED,
    BOOKING_OUTCOME_UNKNOWN,
    BOOKING_UNAVAILABLE,
)
from bullion.refusals.refusal import RefusalError


def booking_refused(fault: StoreFault) -> RefusalError:
    match fault:
        case StoreBusy():
            return RefusalError(BOOKING_BUSY)
        case StoreConflict():
            return RefusalError(BOOKING_CONFLICT)
        case NotCompleted():
            return RefusalError(BOOKING_NOT_COMPLETED)
        case OutcomeUnknown():
            return RefusalError(BOOKING_OUTCOME_UNKNOWN)
        case _:
            return RefusalError(BOOKING_UNAVAILABLE)
