"""What a store may answer instead of doing its work. Every driver error is folded into one of these."""


class StoreFault(Exception):
    """The store did not do what it was asked to; nothing was written."""


class StoreUnavailable(StoreFault):
    """It cannot be reached, or cannot write: a full disk, a lost file, a closed connection."""


class StoreBusy(StoreFault):
    """Somebody else held a lock for longer than we are ready to wait."""


class AlreadyThere(StoreFault):
    """A row with the same identity exists."""


class RuleBroken(StoreFault):
    """A rule of the schema forbids the row. Our own checks should have refused it before."""
