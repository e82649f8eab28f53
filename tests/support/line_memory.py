"""The records of a line in memory, as `StoredLineRecords` keeps them, for runs in virtual time."""

import asyncio
from collections.abc import Sequence
from copy import deepcopy

import msgspec

from bullion.hedge.fix.order_effects import FillSeen, LineBreak, LineOrder, OrderFinal, OrderSeen, Seen
from bullion.hedge.fix.records import Learned, StoredOrder
from bullion.hedge.venue import Declined, ListedExecution


class MemoryRecords:
    WRITE_S, READ_S = 0.002, 0.001
    """How long a write and a read take."""

    def __init__(self) -> None:
        self.orders: dict[str, StoredOrder] = {}
        self.sent: set[str] = set()
        self.listed: list[ListedExecution] = []
        self.breaks: list[LineBreak] = []
        self.seen: dict[str, Seen] = {}

    async def claim(self, order: LineOrder, at_us: int) -> LineOrder | None:
        await asyncio.sleep(self.WRITE_S)
        found = self.orders.get(order.order_id)
        if found is not None and not found.unknown:
            return None
        sends = 1 if found is None else found.order.sends + 1
        client_order_id = order.client_order_id or str(len(self.orders) + 1)
        if found is not None:
            client_order_id = found.order.client_order_id
        claimed = msgspec.structs.replace(order, sends=sends, client_order_id=client_order_id)
        self.orders[order.order_id] = StoredOrder(claimed)
        return claimed

    async def release(self, order: LineOrder) -> None:
        await asyncio.sleep(self.WRITE_S)
        found = self.orders.get(order.order_id)
        if found is not None and found.answer is None and found.order.sends == order.sends:
            self.orders[order.order_id] = msgspec.structs.replace(found, unknown=True)

    async def find(self, order_id: str) -> StoredOrder | None:
        await asyncio.sleep(self.READ_S)
        return self._with_seen(self.orders.get(order_id))

    async def find_sent(self, client_order_id: str) -> StoredOrder | None:
        await asyncio.sleep(self.READ_S)
        found = (each for each in self.orders.values() if each.order.client_order_id == client_order_id)
        return self._with_seen(next(found, None))

    async def find_seen(self, name: str) -> Seen | None:
        await asyncio.sleep(self.READ_S)
        return deepcopy(self.seen.get(name))

    def _with_seen(self, stored: StoredOrder | None) -> StoredOrder | None:
        seen = None if stored is None else deepcopy(self.seen.get(stored.order.client_order_id))
        return stored if stored is None or seen is None else msgspec.structs.replace(stored, seen=seen)

    async def unsettled(self) -> Sequence[StoredOrder]:
        await asyncio.sleep(self.READ_S)
        open_ = [each for each in self.orders.values() if each.answer is None and not each.unknown]
        return [found for each in open_ if (found := self._with_seen(each)) is not None]

    async def learn(self, learned: Sequence[Learned], at_us: int) -> None:
        await asyncio.sleep(self.WRITE_S)
        for each in learned:
            if isinstance(each, LineBreak | OrderSeen):
                if isinstance(each, LineBreak):
                    self.breaks.append(each)
                if each.seen is not None:
                    self.seen[each.seen.name] = deepcopy(each.seen)
                continue
            found = self.orders.get(each.order.order_id) or StoredOrder(each.order)
            if isinstance(each, FillSeen):
                if each.fill.execution_id not in {fill.execution_id for fill in found.fills}:
                    found = msgspec.structs.replace(found, fills=(*found.fills, each.fill))
            elif found.answer is None:
                changes = {"answer": each.answer, "filled_e8": each.filled_e8, "unknown": False}
                found = msgspec.structs.replace(found, **changes)
                if not isinstance(each.answer, Declined):
                    self._list(each)
            self.orders[each.order.order_id] = found

    def _list(self, final: OrderFinal) -> None:
        order, answer = final.order, final.answer
        place = str(len(self.listed) + 1)
        self.listed.append(
            ListedExecution(
                answer.execution_id,
                order.order_id,
                order.instrument,
                order.trade_type,
                order.quantity_e4,
                0,
                place,
            )
        )

    async def executions(self, after: int, limit: int, line: str = "spot") -> Sequence[ListedExecution]:
        await asyncio.sleep(self.READ_S)
        return self.listed[after : after + limit] if line == "spot" else []
