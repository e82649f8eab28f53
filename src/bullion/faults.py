"""The errors of the store. Every driver error becomes one of these."""


class StoreFault(Exception):
    """The store failed. Nothing was written, unless it is an OutcomeUnknown."""


class StoreUnavailable(StoreFault):
    """The store cannot be reached or cannot write: a full disk, a lost file, a closed connection."""


class StoreBusy(StoreFault):
    """A lock was not free within the time limit."""


class StoreConflict(StoreFault):
    """Concurrent changes of the same rows, also after several retries."""


class NotSent(StoreConflict):
    """It waited too long for a connection: what it was made from may have changed."""


class OutcomeUnknown(StoreFault):
    """The connection was lost during the commit: it may have been done or not."""


class NotCompleted(StoreFault):
    """A commit whose outcome was unknown was checked: nothing was written."""


class AlreadyExists(StoreFault):
    """A row with the same identity exists."""


class ConstraintViolation(StoreFault):
    """A constraint of the schema forbids the row. Our own checks should have refused it before."""
