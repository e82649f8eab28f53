"""The refusal that a client gets when a store fault ended a production booking."""

from bullion.faults import NotCompleted, OutcomeUnknown, StoreBusy, StoreConflict, StoreFault
from bullion.refusals.catalogue import (
    BOOKING_BUSY,
    BOOKING_CONFLICT,
    BOOKING_NOT_COMPLETED,
    BOOKING_OUTCOME_UNKNOWN,
    BOOKING_UNAVAILABLE,
)
from bullion.refusals.refusal import RefusalError

_REFUSALS = {
    StoreBusy: BOOKING_BUSY,
    StoreConflict: BOOKING_CONFLICT,
    NotCompleted: BOOKING_NOT_COMPLETED,
    OutcomeUnknown: BOOKING_OUTCOME_UNKNOWN,
}


def booking_error(fault: StoreFault) -> RefusalError:
    return RefusalError(_REFUSALS.get(type(fault), BOOKING_UNAVAILABLE))
