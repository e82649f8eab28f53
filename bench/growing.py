"""Growth as a part of the run: on every store that there is, and as the two ratios of the design."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .extent import Extent
from .faults import CallFailed
from .growth import Growth, Pair, measure_growth
from .ratio import RatioResult, Target, at_most
from .spread import Spread

_BY_STORE, _BY_ACCOUNT = at_most(1.3), at_most(1.5)


def measure_growths(extent: Extent, stores: Sequence[str], say: Callable[[str], None]) -> list[Growth]:
    found = []
    for store in stores if extent.growth_orders else ():
        say(f"growth on {store}, to {extent.growth_orders:,} orders")
        try:
            growth = measure_growth(store, extent.growth_orders, say, rounds=extent.growth_rounds)
        except (AssertionError, OSError, RuntimeError) as error:
            raise CallFailed(f"Growth on {store}: {error}.") from error
        say(f"growth on {store}: worst {growth.worst.ratio:.2f} ({growth.worst.call})")
        found.append(growth)
    return found


def growth_ratios(growths: Sequence[Growth]) -> list[RatioResult]:
    """The worst call on any store."""
    if not growths:
        return []
    by_store = max(growths, key=lambda each: each.worst.ratio)
    by_account = max(growths, key=lambda each: each.account_worst.ratio)
    return [
        _found(
            "growth_worst",
            by_store.by_store[by_store.worst.call],
            f"'{by_store.worst.call}' on {by_store.engine} with {by_store.orders:,} orders stored ÷ the same "
            f"on a store next to empty; the worst of {_number(growths, 'by_store')} medians",
            _BY_STORE,
        ),
        _found(
            "growth_account_worst",
            by_account.by_account[by_account.account_worst.call],
            f"'{by_account.account_worst.call}' on {by_account.engine} on the account with most orders ÷ the "
            f"same on one with a hundred; the worst of {_number(growths, 'by_account')} medians",
            _BY_ACCOUNT,
        ),
    ]


def growth_results(growth: Growth) -> dict[str, Any]:
    return {
        "store": growth.engine,
        "orders": growth.orders,
        "worst": {"call": growth.worst.call, "ratio": round(growth.worst.ratio, 3)},
        "account_worst": {
            "call": growth.account_worst.call,
            "ratio": round(growth.account_worst.ratio, 3),
        },
        "by_store": _pairs(growth.by_store),
        "by_account": _pairs(growth.by_account),
    }


def _found(name: str, pair: Pair, divides: str, target: Target) -> RatioResult:
    return RatioResult(name, Spread(pair.ratio, pair.ratio, pair.ratio), divides, target)


def _number(growths: Sequence[Growth], which: str) -> int:
    return sum(len(getattr(each, which)) for each in growths)


def _pairs(pairs: Mapping[str, Pair]) -> dict[str, dict[str, float]]:
    return {
        call: {
            "small_us": round(pair.small_us, 1),
            "grown_us": round(pair.grown_us, 1),
            "ratio": round(pair.ratio, 3),
        }
        for call, pair in pairs.items()
    }
