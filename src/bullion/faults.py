"""What a store may answer instead of doing its work. Every driver error is folded into one of these."""


class StoreFault(Exception):
    """The store did not do what it was asked to. Nothing was written, unless it is an OutcomeUnknown."""


class StoreUnavailable(StoreFault):
    """It cannot be reached, or cannot write: a full disk, a lost file, a closed connection."""


class StoreBusy(StoreFault):
    """Somebody else held a lock for longer than we are ready to wait."""


class StoreConflict(StoreFault):
    """Others changed the same things at once, and went on doing so however often we tried again."""


class OutcomeUnknown(StoreFault):
    """The connection was lost while the commit was on its way: it may have been done or not."""


class NotCompleted(StoreFault):
    """The outcome of a commit was unknown, and was then found out: nothing had been written."""


class AlreadyThere(StoreFault):
    """A row with the same identity exists."""


class RuleBroken(StoreFault):
    """A rule of the schema forbids the row. Our own checks should have refused it before."""
