"""The result of a verification of the books."""

from dataclasses import dataclass, field

from bullion.metals.weight import weight_text


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a book. Empty if it has none."""

    broker: str = ""
    login_id: str = ""
    environment: str = ""

    def __str__(self) -> str:
        return " ".join(word for word in (self.broker, self.login_id, self.environment) if word)


@dataclass(frozen=True, slots=True)
class Difference:
    kind: str
    """A word for programs, such as `net`."""
    owner: Owner
    what: str
    stored: str
    recomputed: str

    def __str__(self) -> str:
        whose = f"{self.owner}: " if str(self.owner) else ""
        return f"{whose}{self.what}: stored {self.stored}, recomputed {self.recomputed}"


@dataclass(frozen=True, slots=True)
class Check:
    query: str
    kind: str
    what: str
    """The text before the name that the query gives to a difference."""
    weight: bool = False
    """Whether it compares weights."""

    def text(self, value: object) -> str:
        if value is None:
            return "nothing"
        return weight_text(value) if self.weight and isinstance(value, int) else str(value)


Found = tuple[Check, Owner, str, object, object]
"""The check, whose book it is, a name, what is stored and what was recomputed."""


@dataclass(slots=True)
class Report:
    books: int = 0
    orders: int = 0
    """Working orders and archived ones, as the books count them."""
    audit_entries: int = 0
    differences: list[Difference] = field(default_factory=list)
    more: bool = False
    """There are more differences than those listed."""
    skipped: list[str] = field(default_factory=list)
    """Sentences on what could not be recomputed."""

    @property
    def equal(self) -> bool:
        return not self.differences
