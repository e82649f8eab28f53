"""What the desk is told when the store fails it: above all, whether something may have been changed."""

from bullion.faults import OutcomeUnknown, StoreBusy, StoreConflict, StoreFault
from bullion.refusals.catalogue import SERVICE_UNAVAILABLE
from bullion.refusals.refusal import RefusalError


def unavailable(fault: StoreFault) -> RefusalError:
    match fault:
        case OutcomeUnknown():
            words = "The store was lost while recording this. Look whether it was done before you repeat it."
        case StoreBusy() | StoreConflict():
            words = "The store is busy. Nothing was changed; try again."
        case _:
            words = "The store cannot be reached. Nothing was changed; try again."
    return RefusalError(SERVICE_UNAVAILABLE, words)
