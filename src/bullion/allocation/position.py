"""A metal's net position against the weight allocation."""

import msgspec


class Position(msgspec.Struct, frozen=True, gc=False):
    net_e4: int
    """Buys count positive, sells negative."""
    limit_e4: int

    @property
    def used_e4(self) -> int:
        return abs(self.net_e4)

    @property
    def free_e4(self) -> int:
        return max(0, self.limit_e4 - self.used_e4)

    def admits(self, change_e4: int) -> bool:
        """Whether the change stays within the allocation or reduces the position: that is always allowed."""
        used_after_e4 = abs(self.net_e4 + change_e4)
        return used_after_e4 <= self.limit_e4 or used_after_e4 < abs(self.net_e4)
