"""The archive, for the desk."""

from dataclasses import dataclass

from bullion.orders.trace import Trace

from .orders import AccountTrace


@dataclass(frozen=True, slots=True)
class BookToArchive:
    """The part of a test book that a reset has removed from the lists and that is not archived yet."""

    login_id: str
    book_id: int
    first_ordinal: int
    last_ordinal: int

    @property
    def count(self) -> int:
        return self.last_ordinal - self.first_ordinal + 1


@dataclass(frozen=True, slots=True)
class ArchiveSize:
    orders: int
    packs: int
    plain_bytes: int
    packed_bytes: int


@dataclass(frozen=True, slots=True)
class TraceBatch:
    """Traces of all brokers that were written together."""

    ordinal: int
    written: str
    """The stored text, to detect changes before the batch is rewritten."""
    matching: list[AccountTrace]
    rest: list[Trace]
