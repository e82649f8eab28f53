"""Who counts calls: this process's memory, or Redis for all of them together."""

from bullion.budgets.limiter import Limiter
from bullion.budgets.memory import MemoryLimiter
from bullion.budgets.redis import RedisLimiter
from bullion.budgets.redis_link import RedisLink
from bullion.settings import Settings


def make_limiter(settings: Settings) -> tuple[Limiter, RedisLink | None]:
    """The link has to be kept up by whoever uses the limiter."""
    if settings.redis_url is None:
        return MemoryLimiter(), None
    link = RedisLink(settings.redis_url)
    return RedisLimiter(link, MemoryLimiter()), link
