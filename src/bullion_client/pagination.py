"""Pagination over a list that changes while it is read.

The list is newest first, and pages are requested by offset. A new order shifts all others down, so the end
of one page is the start of the next: nothing is missed, but an order is seen twice. An order that leaves
the list, because the desk deleted it or its status no longer matches the filter, shifts the others up, and
one could be missed. So each page overlaps the one before by one order. If the first order of a page was
seen before, nothing is missing between the two pages; if not, the pager goes back until it was, or to the
beginning.

Orders that arrived after the pager started are not shown where they can be recognised.
"""

from typing import Generic

from bullion_client.models import OrderPage, OrderT_co

PAGE_SIZE_MIN = 2
"""Smaller pages cannot overlap."""
PAGE_SIZE_MAX = 200


class Pager(Generic[OrderT_co]):
    """The state of reading a list: the next page to request, and the ids that were seen."""

    def __init__(self, page_size: int) -> None:
        if not PAGE_SIZE_MIN <= page_size <= PAGE_SIZE_MAX:
            raise ValueError(f"page_size must be from {PAGE_SIZE_MIN} to {PAGE_SIZE_MAX}")
        self.page_size = page_size
        self.offset = 0
        self.done = False
        self._seen: set[str] = set()

    def take(self, page: OrderPage[OrderT_co]) -> list[OrderT_co]:
        """The new orders of the page at `offset`. Moves on to the next page, or to the end."""
        seen = [order.id in self._seen for order in page.items]
        if self.offset and not any(seen[:1]):
            self.offset = max(self.offset - self.page_size + 1, 0)
            return []
        # On the first page, orders above the first one that was seen arrived after the pager started.
        newer = seen.index(True) if self.offset == 0 and any(seen) else 0
        shown = [order for order in page.items[newer:] if order.id not in self._seen]
        self._seen.update(order.id for order in page.items)
        if len(page.items) < self.page_size:
            self.done = True
        self.offset += max(len(page.items) - 1, 0)
        return shown
