"""What the desk sees of the archive, and what it may put there."""

from dataclasses import dataclass

from bullion.orders.trace import Trace

from .orders import FoundTrace


@dataclass(frozen=True, slots=True)
class BookToArchive:
    """The part of a test book that a reset has set aside and that is not in the archive yet."""

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
    """Decisions that were written together, and are of all brokers."""

    ordinal: int
    written: str
    """As the store has it, so that nothing but this is changed."""
    wanted: list[FoundTrace]
    rest: list[Trace]
