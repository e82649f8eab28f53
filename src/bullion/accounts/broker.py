"""A broker: the tenant of clients, symbols and desk."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Broker:
    tag: str
    """Short and permanent: it is part of every key of this broker."""
    name: str
    hosts: tuple[str, ...] = ()
    """Host names that belong to this broker."""
    moved_to: str | None = None
    """The address of the store that it was moved to. Then nothing is recorded for it here."""
