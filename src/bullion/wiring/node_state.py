"""What is wrong with a node, and since when, for its report in the store."""

from collections.abc import Hashable
from socket import gethostname

from bullion.budgets.limiter import Limiter
from bullion.budgets.redis import RedisLimiter
from bullion.hedge.venue import Tradeability
from bullion.records.node_report import NodeReport
from bullion.settings import Settings

from .trading import Trading


class NodeState:
    def __init__(self, settings: Settings, trading: Trading, limiter: Limiter) -> None:
        self._place = f"{gethostname()}:{settings.port}"
        self._workers = settings.workers
        self._trading = trading
        self._shared_limiter = limiter if isinstance(limiter, RedisLimiter) else None
        self._wrong_since: dict[Hashable, int] = {}

    def report(self, now_us: int) -> NodeReport:
        trading, limiter = self._trading, self._shared_limiter
        down = {
            broker: self._since(("venue", broker), now_us, wrong=not trading.venue_watch.reachable(broker))
            for broker in trading.catalogue.brokers
        }
        not_tradable = {broker: self._not_tradable(broker, now_us) for broker in trading.catalogue.brokers}
        return NodeReport(
            at_us=now_us,
            place=self._place,
            workers=self._workers,
            venue_down_us={broker: since for broker, since in down.items() if since is not None},
            not_tradable_us={broker: since for broker, since in not_tradable.items() if since},
            limiter="memory" if limiter is None else "redis",
            limiter_down_us=self._since("limiter", now_us, wrong=limiter is not None and not limiter.up),
            schema_unfit_us=self._since("schema", now_us, wrong=not trading.schema_current),
        )

    def _not_tradable(self, broker: str, now_us: int) -> dict[str, int]:
        """Since when, by instrument."""
        since = {
            each: self._since(("instrument", broker, each), now_us, wrong=said is not Tradeability.TRADABLE)
            for each, said in self._trading.venue_watch.answers(broker).items()
        }
        return {each: at_us for each, at_us in since.items() if at_us is not None}

    def _since(self, what: Hashable, now_us: int, *, wrong: bool) -> int | None:
        """When it became wrong; None while it is well."""
        if not wrong:
            self._wrong_since.pop(what, None)
            return None
        return self._wrong_since.setdefault(what, now_us)
