"""Walking through a list that changes while it is read.

The list is newest first, and pages are asked for by offset. A new order pushes all others down, so what ended
one page begins the next: nothing is missed, but something is seen twice. An order that leaves the list,
because the desk deleted it or because it no longer has the status that was asked for, pulls the others up,
and one could be missed. So each page overlaps the one before by one order. While its first order is one that
was seen, nothing lies unseen between the two; when it is not, the walk goes back until it is, or to the
beginning.

Orders that came after the walk had begun are not shown where they can be told from older ones.
"""

from bullion_client.order import Order, OrderPage

PAGE_SIZE_MIN = 2
"""Less could not overlap."""
PAGE_SIZE_MAX = 200


class Walk:
    """Where a walk is: what to ask for next, and what of it is new. It keeps the ids that it has seen."""

    def __init__(self, page_size: int) -> None:
        if not PAGE_SIZE_MIN <= page_size <= PAGE_SIZE_MAX:
            raise ValueError(f"page_size must be from {PAGE_SIZE_MIN} to {PAGE_SIZE_MAX}")
        self.page_size = page_size
        self.offset = 0
        self.over = False
        self._seen: set[str] = set()

    def take(self, page: OrderPage) -> list[Order]:
        """The orders to show of the page at `offset`. Moves on to the next page, or to the end."""
        seen = [order.id in self._seen for order in page.items]
        if self.offset and not any(seen[:1]):
            self.offset = max(self.offset - self.page_size + 1, 0)
            return []
        # At the top, what stands above the first that was seen came after the walk had begun.
        newer = seen.index(True) if self.offset == 0 and any(seen) else 0
        shown = [order for order in page.items[newer:] if order.id not in self._seen]
        self._seen.update(order.id for order in page.items)
        if len(page.items) < self.page_size:
            self.over = True
        self.offset += max(len(page.items) - 1, 0)
        return shown
