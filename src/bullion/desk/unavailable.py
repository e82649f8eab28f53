"""What the desk says when the store fails: above all, whether something may have been changed."""

from bullion.faults import OutcomeUnknown, StoreBusy, StoreConflict, StoreFault
from bullion.refusals.catalogue import SERVICE_UNAVAILABLE
from bullion.refusals.refusal import RefusalError


def unavailable(fault: StoreFault) -> RefusalError:
    match fault:
        case OutcomeUnknown():
            message = (
                "The connection to the store was lost while this was recorded. Check whether it was done "
                "before you repeat it."
            )
        case StoreBusy() | StoreConflict():
            message = "The store is busy. Nothing was changed; try again."
        case _:
            message = "The store cannot be reached. Nothing was changed; try again."
    return RefusalError(SERVICE_UNAVAILABLE, message)
