"""Keeps calls within the rate limits of the service, so that only the checks of rate limits get 429."""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

READS = ((300, 60.0),)
ORDERS = ((60, 60.0), (10, 10.0))
REFUSALS = ((18, 60.0),)
"""Two fewer per minute than the address may have, in case somebody mistypes a key meanwhile."""
_MARGIN_S = 0.05
_MINUTE_S = 60.5

Windows = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Payer:
    """The key and account that a call counts against."""

    key: str = field(repr=False)
    account: str
    order: bool
    shared: bool
    """Whether the keys of the account share a budget."""


@dataclass(slots=True)
class _Standing:
    """The last RateLimit headers, less the orders that other keys of the account have sent since."""

    left: int
    reset_at: float


@dataclass(slots=True)
class _Sent:
    windows: Windows
    times: deque[float] = field(default_factory=lambda: deque[float](maxlen=400))

    def wait_s(self, now: float) -> float:
        waits = [
            self.times[-count] + seconds + _MARGIN_S - now
            for count, seconds in self.windows
            if len(self.times) >= count
        ]
        return max(waits, default=0.0)


class Pace:
    """Follows the RateLimit-* headers if the service sends them, and the default budgets otherwise."""

    def __init__(
        self,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        *,
        refusals: Windows = REFUSALS,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._told: dict[Payer, _Standing] = {}
        self._sent: defaultdict[Payer, _Sent] = defaultdict(lambda: _Sent(READS))
        self._refusals = _Sent(refusals)
        self.waited_s = 0.0
        self.throttled = 0
        """The number of calls that got a 429 that no check provoked."""

    def before(self, payer: Payer) -> None:
        """Wait until this call is likely to be within its budgets."""
        now = self._clock()
        told = self._told.get(payer)
        if told is not None:
            if told.left <= 0:
                self.wait(told.reset_at - now)
        else:
            self.wait(self._line(payer).wait_s(now))

    def after(self, payer: Payer, headers: Mapping[str, str]) -> None:
        now = self._clock()
        self._line(payer).times.append(now)
        for other, standing in self._told.items():
            if payer.order and payer.shared and other.account == payer.account and other.order:
                standing.left -= 1
        try:
            left, reset_s = int(headers["ratelimit-remaining"]), int(headers["ratelimit-reset"])
        except (KeyError, ValueError):
            return
        self._told[payer] = _Standing(left, now + reset_s + _MARGIN_S)

    def before_refusal(self) -> None:
        """Wait until one more 401 leaves the address below its throttle."""
        self.wait(self._refusals.wait_s(self._clock()))

    def after_refusal(self) -> None:
        self._refusals.times.append(self._clock())

    def refusal_ages_s(self) -> list[float]:
        """The ages of the 401 responses of the last minute, oldest first."""
        now = self._clock()
        return [now - at for at in self._refusals.times if now - at < _MINUTE_S]

    def wait(self, seconds: float) -> None:
        if seconds > 0:
            self.waited_s += seconds
            self._sleep(seconds)

    def _line(self, payer: Payer) -> _Sent:
        """Keys that share a budget are counted together until a response names their budget."""
        one = Payer(
            "" if payer.shared and payer.order else payer.key, payer.account, payer.order, payer.shared
        )
        line = self._sent[one]
        if payer.order:
            line.windows = ORDERS
        return line
