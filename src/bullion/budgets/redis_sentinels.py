"""Asks Redis Sentinel which server is the master."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

from .redis_address import Host


async def ask_sentinels(
    sentinels: Sequence[Host],
    ask: Callable[[Host], Awaitable[Host]],
    failures: tuple[type[Exception], ...],
) -> Counter[Host]:
    """The masters that they name, with how many name each. If none answers, raises the error of one.

    `failures`: what `ask` may raise.

    All are asked at once. When most of them agree, the others are not waited for.
    """
    asking = [asyncio.ensure_future(ask(each)) for each in sentinels]
    named: Counter[Host] = Counter()
    failed: list[Exception] = []
    try:
        for answer in asyncio.as_completed(asking):
            try:
                named[await answer] += 1
            except failures as error:
                failed.append(error)
            if named and named.most_common(1)[0][1] > len(sentinels) / 2:
                break
    finally:
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
    if not named:
        raise failed[0]
    return named
