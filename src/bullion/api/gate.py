"""The gate before every call: it checks address, key, account, scope and budget, in that order.

The key is checked from memory before the limiter is asked, so that the throttle, the count of failures and
the budgets take one round trip. The gate does not read the request's body.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import msgspec

from bullion.accounts.account import Account
from bullion.accounts.switches import Switches
from bullion.budgets.limiter import (
    Allowed,
    BudgetState,
    Charge,
    Exceeded,
    Limiter,
    LimiterUnavailable,
    Throttled,
)
from bullion.catalogue.catalogue import Catalogue
from bullion.environment import PRODUCTION, Environment
from bullion.faults import StoreFault
from bullion.keys.hashing import Hasher
from bullion.keys.key import ORDERS_WRITE, Key, Scope
from bullion.keys.text import KeyText, read_key
from bullion.keys.verify import check_validity, verify
from bullion.refusals.catalogue import (
    ACCOUNT_INACTIVE,
    ADDRESS_NOT_ALLOWED,
    API_ACCESS_DISABLED,
    AUTH_THROTTLED,
    BOOKING_UNAVAILABLE,
    INSUFFICIENT_SCOPE,
    INVALID_CREDENTIAL,
    RATE_LIMITED,
    RATE_LIMITER_UNAVAILABLE,
    SERVICE_UNAVAILABLE,
    WRONG_ENVIRONMENT,
    WRONG_TENANT,
)
from bullion.refusals.refusal import RefusalCode, RefusalError
from bullion.web.address import SourceAddress
from bullion.web.calls import Call
from bullion.web.headers import HeaderValues
from bullion.web.response import ConnectionMemory

from . import rate_limits
from .hosts import host_name

_NO_HOST = (b"",)
_SECOND_LOOK_S = 1.0
"""How long the second look-up of a key, in the store, may take."""
MEMORY_AGE_NS_MAX = 30_000_000_000
"""How long calls are answered from memory while the store cannot be reached."""


_ADMISSION = "admission"

Said = tuple[
    str, Environment, Scope, bool, Sequence[bytes] | None, Sequence[bytes] | None, Sequence[bytes] | None
]
"""What a call says of itself: its peer, environment and scope, whether it opens a stream, and the values of
its headers `Host`, `X-Forwarded-For` and `X-API-Key`."""

_SAID_BYTES_MAX = 1024
_HEADER_BYTES = 64
"""What a header takes in memory besides its value."""


class Caller(msgspec.Struct):
    """A caller that the gate let through."""

    key: Key
    account: Account
    switches: Switches
    budget_state: BudgetState | None
    """The budget with the fewest calls left; None if calls could not be counted."""
    scenario: Sequence[bytes] = ()
    """The values of `X-Bullion-Scenario`, which only the test environment uses."""
    admitted_serial: int | None = None
    """The catalogue's serial that the caller was admitted with. None if the key expires, or is replaced."""


class Admission(msgspec.Struct):
    """What the key of a call, and where it came from, led to. It holds until the catalogue changes."""

    said: Said
    """What the call said of itself."""
    serial: int
    """The catalogue's serial before it was read."""
    key: Key
    account: Account
    switches: Switches
    address: str
    failures: Charge
    charges: tuple[Charge, ...]
    secret_hash: bytes
    other_hash: bytes | None
    """With the other secret of the deployment, while that is exchanged."""

    def __repr__(self) -> str:
        return f"Admission({self.key.key_id}, …)"  # `said` has the key's secret.

    @property
    def lasting(self) -> bool:
        """Whether nothing but a change of the catalogue can end it."""
        return self.other_hash is None and not self.key.has_end


@dataclass(frozen=True)
class Gate:
    catalogue: Catalogue
    look_up: Callable[[str], Awaitable[None]]
    """Reads the store into memory, including the key with this id, if it exists."""
    limiter: Limiter
    key_hasher: Hasher
    addresses: SourceAddress
    default_broker: str
    record_key_use: Callable[[str], None]
    record_other_hash: Callable[[str, bytes, bytes], None] = lambda _id, _stored, _wanted: None
    """Called for a key whose stored hash was made with the other secret, with the hash it should have."""

    async def admit(
        self,
        call: Call,
        headers: HeaderValues,
        peer: str,
        environment: Environment,
        scope: Scope,
        *,
        opens_stream: bool = False,
        connection: ConnectionMemory | None = None,
    ) -> Caller:
        """Return the caller or raise RefusalError. A call with `orders:write` is counted as an order.

        Calls of one connection mostly say the same of themselves: then its last admission is used again.
        """
        said = (
            peer,
            environment,
            scope,
            opens_stream,
            headers.get(b"host"),
            headers.get(b"x-forwarded-for"),
            headers.get(b"x-api-key"),
        )
        admission = None if connection is None else connection.get(_ADMISSION)
        if admission is None or not self._holds(admission, said):
            admission = await self._identify(call, headers, said)
            if connection is not None and admission.lasting and _is_short(said):
                connection[_ADMISSION] = admission
        key = admission.key
        call.address, call.key_id = admission.address, key.key_id
        budget_state: BudgetState | None = None
        try:
            outcome = await self.limiter.take(admission.failures, failed=False, charges=admission.charges)
            budget_state = _tightest(outcome)
        except LimiterUnavailable:
            if scope is ORDERS_WRITE:
                raise RefusalError(RATE_LIMITER_UNAVAILABLE) from None
            # Reads pass uncounted rather than fail.
        self.record_key_use(key.key_id)
        if admission.other_hash is not None and key.secret_hash == admission.other_hash:
            self.record_other_hash(key.key_id, admission.other_hash, admission.secret_hash)
        serial = None if key.has_end else admission.serial
        scenario = headers.get(b"x-bullion-scenario", ())
        return Caller(key, admission.account, admission.switches, budget_state, scenario, serial)

    def _holds(self, admission: Admission, said: Said) -> bool:
        """Whether a call that says this of itself would be admitted in the same way."""
        catalogue, key = self.catalogue, admission.key
        return (
            admission.serial == catalogue.serial
            and admission.said == said
            and catalogue.keys.get(key.key_id) is key
            and catalogue.accounts.get(key.account_id) is admission.account
            and not catalogue.older_than(MEMORY_AGE_NS_MAX)
        )

    async def _identify(self, call: Call, headers: HeaderValues, said: Said) -> Admission:
        """Check everything but the budgets. Raises RefusalError."""
        peer, environment, scope, opens_stream, *_ = said
        call.address = self.addresses.source(peer, headers.get(b"x-forwarded-for", ()))
        serial, host = self.catalogue.serial, headers.get(b"host", _NO_HOST)[-1]
        broker = self.catalogue.hosts.get(host_name(host), self.default_broker)
        switches = self.catalogue.switches_of(broker)
        if switches.moved:
            raise RefusalError(_unavailable(environment, scope))
        failures = rate_limits.failure(call.address, switches.budgets.failed_auth_per_minute)
        text = _check_key_text(read_key(headers.get(b"x-api-key", ())), broker, environment)
        if isinstance(text, RefusalCode):
            await self._count(failures, failed=True)
            raise RefusalError(text)
        call.key_id = text.key_id
        secret_hash, other_hash = self.key_hasher.hash(text.secret), self.key_hasher.other_hash(text.secret)
        key = self.catalogue.keys.get(text.key_id)
        refusal = verify(text, secret_hash, key, self.catalogue.now_us(), other_hash)
        if refusal is not None or key is None or self.catalogue.older_than(MEMORY_AGE_NS_MAX):
            key = await self._key(call, text, secret_hash, other_hash, failures, scope)
        account = self.catalogue.accounts[key.account_id]
        refusal = _access(key, account, call.address, scope)
        if refusal is not None:
            await self._count(failures, failed=False)
            raise RefusalError(refusal, scope_message(refusal, scope))
        stream = rate_limits.stream(key.key_id) if opens_stream else None
        return Admission(
            said=said,
            serial=serial,
            key=key,
            account=account,
            switches=switches,
            address=call.address,
            failures=failures,
            charges=stream or _charges(key, account, switches, scope),
            secret_hash=secret_hash,
            other_hash=other_hash,
        )

    def still_admitted(self, account_id: int, serial: int | None) -> Account | None:
        """The account of a caller who was admitted with that serial, if nothing can have changed since."""
        return self.catalogue.accounts.get(account_id) if serial == self.catalogue.serial else None

    def recheck(
        self, key_id: str, environment: Environment, address: str, scope: Scope
    ) -> Account | RefusalCode:
        """The account of a caller who was let through before, or why the caller would be refused now."""
        key = self.catalogue.keys.get(key_id)
        if key is None:
            # The store was restored to a copy from before the key was issued. Or the key was evicted from
            # memory: then a retry loads it again.
            return INVALID_CREDENTIAL if self.catalogue.clients.complete else _unavailable(environment, scope)
        account = self.catalogue.accounts[key.account_id]
        if self.catalogue.switches_of(account.broker).moved:
            return _unavailable(environment, scope)
        return (
            check_validity(key, self.catalogue.now_us()) or _access(key, account, address, scope) or account
        )

    async def count_failure(self, call: Call, caller: Caller) -> None:
        """Count a failed authentication of a caller who was let through and whose key was refused later."""
        await self._count(
            rate_limits.failure(call.address, caller.switches.budgets.failed_auth_per_minute), failed=True
        )

    async def _key(
        self,
        call: Call,
        text: KeyText,
        secret_hash: bytes,
        other_hash: bytes | None,
        failures: Charge,
        scope: Scope,
    ) -> Key:
        """The verified key, if the first look into memory did not find it valid."""
        key = self.catalogue.keys.get(text.key_id)
        refusal = verify(text, secret_hash, key, self.catalogue.now_us(), other_hash)
        unread = False
        if refusal is not None:
            # Memory may be a moment behind, or not hold every key, so the store is read once. Every failure
            # costs this one read, so its time reveals nothing. A throttled address gets none.
            self._unless_throttled(failures)
            try:
                async with asyncio.timeout(_SECOND_LOOK_S):
                    await self.look_up(text.key_id)
            except (StoreFault, TimeoutError):
                call.note = "store unreadable, checked from memory"
                unread = True
            key = self.catalogue.keys.get(text.key_id)
            refusal = verify(text, secret_hash, key, self.catalogue.now_us(), other_hash)
        # Without the store, memory that does not hold every key cannot tell whether a key is wrong. A wrong
        # secret of a known key gets the same answer, or the difference would reveal which keys exist.
        unsure = unread and refusal is INVALID_CREDENTIAL and not self.catalogue.clients.complete
        if unsure or self.catalogue.older_than(MEMORY_AGE_NS_MAX):
            self._unless_throttled(failures)
            raise RefusalError(_unavailable(text.environment, scope))
        if refusal is not None or key is None:
            await self._count(failures, failed=True)
            raise RefusalError(refusal or INVALID_CREDENTIAL)
        return key

    def _unless_throttled(self, failures: Charge) -> None:
        """Raise if this node knows that the address is throttled. `limiter.take` does the full check."""
        throttled = self.limiter.throttled(failures)
        if throttled is not None:
            raise _throttled(throttled)

    async def _count(self, failures: Charge, *, failed: bool) -> None:
        """Count a refused call. Raises if its address is throttled: that refusal takes precedence."""
        try:
            outcome = await self.limiter.take(failures, failed=failed)
        except LimiterUnavailable:
            return
        if isinstance(outcome, Throttled):
            raise _throttled(outcome)


def _is_short(said: Said) -> bool:
    """Whether it may be kept: the memory that a caller can take with idle connections is limited."""
    values = chain.from_iterable(each for each in said[-3:] if each)
    return sum(len(value) + _HEADER_BYTES for value in values) <= _SAID_BYTES_MAX


def _tightest(outcome: Allowed | Throttled | Exceeded) -> BudgetState | None:
    """The budget with the fewest calls left, after a call that the limiter let pass."""
    if isinstance(outcome, Allowed):
        return outcome.tightest
    if isinstance(outcome, Throttled):
        raise _throttled(outcome)
    raise _over_budget(RATE_LIMITED, outcome.budget_state, outcome.retry_after_s)


def _charges(key: Key, account: Account, switches: Switches, scope: Scope) -> tuple[Charge, ...]:
    """The budgets that a call is charged to."""
    budgets = switches.budgets
    if scope is not ORDERS_WRITE:
        return rate_limits.read(key.key_id, budgets.reads_per_minute)
    of_key = (budgets.orders_per_minute, budgets.orders_per_10_seconds)
    if key.environment is PRODUCTION:
        name = (account.broker, account.login_id)
        return rate_limits.production_order(key.key_id, name, *of_key, budgets.account_orders_per_minute)
    return rate_limits.order(key.key_id, *of_key)


def _unavailable(environment: Environment, scope: Scope) -> RefusalCode:
    """The refusal of a call that cannot be answered from memory alone."""
    books = scope is ORDERS_WRITE and environment is PRODUCTION
    return BOOKING_UNAVAILABLE if books else SERVICE_UNAVAILABLE


def _check_key_text(
    text: KeyText | RefusalCode, broker: str, environment: Environment
) -> KeyText | RefusalCode:
    """Check what the key's text alone shows, without a look-up."""
    if isinstance(text, RefusalCode):
        return text
    if text.broker != broker:
        return WRONG_TENANT
    if text.environment is not environment:
        return WRONG_ENVIRONMENT
    return text


def _access(key: Key, account: Account, address: str, scope: Scope) -> RefusalCode | None:
    if key.allowed_addresses and not key.allows_address(address):
        return ADDRESS_NOT_ALLOWED
    if not account.api_access:
        return API_ACCESS_DISABLED
    if not account.active:
        return ACCOUNT_INACTIVE
    if scope not in key.scopes:
        return INSUFFICIENT_SCOPE
    return None


def scope_message(refusal: RefusalCode, scope: Scope) -> str | None:
    if refusal is INSUFFICIENT_SCOPE:
        return f"This call needs the scope {scope}, which this API key lacks."
    return None


def _throttled(throttled: Throttled) -> RefusalError:
    return _over_budget(AUTH_THROTTLED, throttled.budget_state, throttled.retry_after_s)


def _over_budget(refusal: RefusalCode, budget_state: BudgetState, retry_after_s: int) -> RefusalError:
    return RefusalError(refusal, retry_after_s=retry_after_s, headers=rate_limits.limit_headers(budget_state))
