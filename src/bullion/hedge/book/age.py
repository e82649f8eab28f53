"""Since when there has been something to cover, found by going back through the entries of a book."""

from collections.abc import Mapping, Sequence
from datetime import date

import msgspec

from bullion.hedge.contract import Contract

from .rules import Rule, RuleKind, may_be_used, smallest_cover_mg

_US_PER_S = 1_000_000


class Age(msgspec.Struct, frozen=True):
    """What the age of a residual is counted for."""

    lot_mg: int
    """The smallest cover. A residual below it has no age."""
    threshold_s: int
    """Whether it is older than this is all that matters, so nobody looks back further."""


def ages_of(rules: Sequence[Rule], contracts: Mapping[str, Contract], today: date) -> dict[str, Age]:
    """By the name of the rule, for the rules of age that have a contract."""
    usable = {code: each for code, each in contracts.items() if may_be_used(each, today)}
    found = {}
    for rule in rules:
        lot_mg = smallest_cover_mg([rule], usable) if rule.kind is RuleKind.AGE else None
        if lot_mg is not None:
            found[rule.name] = Age(lot_mg, rule.threshold)
    return found


class LookBack:
    """Goes back from the newest entry to that with which the residual began to be a lot on its side.

    Entries of one transaction have the same time. What was between them was never to be covered.
    """

    def __init__(self, residual_mg: int, age: Age, now_us: int) -> None:
        self._long = residual_mg > 0
        self._lot_mg = age.lot_mg
        self._enough_us = now_us - age.threshold_s * _US_PER_S
        self._residual_mg = residual_mg
        """Before the entries so far."""
        self._began_us: int | None = None
        """The time of the oldest of them."""

    @property
    def is_open(self) -> bool:
        return abs(self._residual_mg) >= self._lot_mg and (self._residual_mg > 0) == self._long

    def reaches(self, at_us: int, change_mg: int) -> bool:
        """Go back before an entry. True: there is no need to, because the one after it is the answer."""
        began_us = self._began_us
        if began_us is not None and at_us != began_us and (not self.is_open or began_us <= self._enough_us):
            return True
        self._residual_mg -= change_mg
        self._began_us = at_us
        return False

    def since_us(self, known_us: int | None = None) -> int | None:
        """`known_us`: the answer for the residual before the entries so far, if they do not have it."""
        return known_us if self.is_open and known_us is not None else self._began_us
