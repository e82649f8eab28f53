"""Chooses where calls are counted: in this process, or in Redis for all nodes."""

from bullion.budgets.limiter import Limiter
from bullion.budgets.memory import MemoryLimiter
from bullion.budgets.redis import RedisLimiter
from bullion.budgets.redis_link import RedisLink
from bullion.settings import Settings


def make_limiter(settings: Settings) -> tuple[Limiter, RedisLink | None]:
    """The caller must await the link's `run` and the limiter's `watch` in the background."""
    if settings.redis_url is None:
        return MemoryLimiter(), None
    link = RedisLink(settings.redis_url)
    return RedisLimiter(link, MemoryLimiter()), link
