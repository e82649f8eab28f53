"""A broker: whose clients, symbols and desk these are."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Broker:
    tag: str
    """Short and lasting: it stands in every key of this broker."""
    name: str
    hosts: tuple[str, ...] = ()
    """Host names whose calls are this broker's."""
