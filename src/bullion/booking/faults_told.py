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


def booking_refused(fault: StoreFault) -> Refused:
    match fault:
        case StoreBusy():
            return Refused(BOOKING_BUSY)
        case StoreConflict():
            return Refused(BOOKING_CONFLICT)
        case NotCompleted():
            return Refused(BOOKING_NOT_COMPLETED)
        case OutcomeUnknown():
            return Refused(BOOKING_OUTCOME_UNKNOWN)
        case _:
            return Refused(BOOKING_UNAVAILABLE)
