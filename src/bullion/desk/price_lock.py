"""Locked prices: what a dealer told a client, signed, so that it can be booked for a few seconds.

A locked order passes every check of an order that is booked at the live price. It is booked at the locked
price if the live price is still within the broker's tolerance of it; otherwise it is refused, as for every
other order with an expected price. A lock is about one order, under one idempotency key, so that it books
once at most.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hmac import compare_digest

import msgspec

from bullion.booking.attempt import OrderAttempt, OrderCheck
from bullion.booking.decide import moved
from bullion.booking.production import Production
from bullion.keys.hashing import Hasher
from bullion.metals.rounding import half_up
from bullion.metals.weight import weight_e4
from bullion.orders.instant import instant_text
from bullion.orders.request import PlaceOrder
from bullion.orders.verdict import Priced, Refusal, Verdict
from bullion.refusals.desk import LOCK_EXPIRED

LOCK_US = 5_000_000
"""How long a price is locked."""
_HASH_BYTES = 32
_encode = msgspec.json.Encoder().encode


class PriceLock(msgspec.Struct, frozen=True, array_like=True):
    broker: str
    dealer: str
    """Who locked the price. Nobody else can book it."""
    account_id: int
    source: str
    idempotency_key: str
    asked: PlaceOrder
    """With the locked price as the expected price."""
    price_paise: int
    total_paise: int
    price_anatomy: str
    rate_at_us: int | None
    until_us: int


class PriceLocks:
    """Signs locks with the deployment's secret, so that every node and console accepts them."""

    def __init__(self, hasher: Hasher) -> None:
        self._hasher = hasher

    def seal(self, lock: PriceLock) -> str:
        text = _encode(lock)
        return urlsafe_b64encode(self._hasher.hash(text) + text).decode("ascii")

    def open(self, sealed: str) -> PriceLock | None:
        """The lock; None if it was not sealed by this deployment, or was changed."""
        try:
            whole = urlsafe_b64decode(sealed.encode("ascii"))
        except ValueError:
            return None
        given, text = whole[:_HASH_BYTES], whole[_HASH_BYTES:]
        known = (self._hasher.hash(text), self._hasher.other_hash(text))
        if not any(each is not None and compare_digest(given, each) for each in known):
            return None
        try:
            return msgspec.json.decode(text, type=PriceLock)
        except msgspec.DecodeError:  # Sealed by another version of the service.
            return None


def locked_anatomy(price_anatomy: str, now_us: int) -> str:
    """The components of a price, with the time at which it was locked."""
    return _encode({**msgspec.json.decode(price_anatomy), "locked_at": instant_text(now_us)}).decode()


def _quoted_weight_e4(price_anatomy: str) -> int:
    return weight_e4(msgspec.json.decode(price_anatomy)["quoted_weight"])


@dataclass(frozen=True, slots=True)
class LockedOrderCheck:
    """The `OrderCheck` of an order at a locked price."""

    production: Production
    unlocked: OrderCheck
    """Checks the order at the live price."""
    lock: PriceLock

    def check(self, attempt: OrderAttempt) -> Verdict:
        verdict, lock = self.unlocked.check(attempt), self.lock
        if isinstance(verdict, Refusal):
            return verdict
        now_us = self.production.now_us()
        if now_us > lock.until_us:
            return Refusal(LOCK_EXPIRED, compared={"until_us": lock.until_us, "now_us": now_us})
        live = self._for_locked_weight(verdict)
        if moved(live, attempt.asked.expected_price):
            return live  # The queue compares the same two prices, refuses the order and settles its key.
        return self._locked(live)

    def _for_locked_weight(self, live: Priced) -> Priced:
        """The live price for the weight of the locked one: the desk may have changed the symbol since."""
        locked_e4, live_e4 = (_quoted_weight_e4(each.price_anatomy) for each in (self.lock, live))
        price_paise = half_up(live.price_paise * locked_e4, live_e4)
        return msgspec.structs.replace(live, price_paise=price_paise)

    def _locked(self, live: Priced) -> Priced:
        lock = self.lock
        return msgspec.structs.replace(
            live,
            price_paise=lock.price_paise,
            total_paise=lock.total_paise,
            price_anatomy=lock.price_anatomy,
            rate_at_us=lock.rate_at_us,
        )
