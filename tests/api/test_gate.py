"""The gate when the store cannot be read, and what a call costs it. The store's fault is injected."""

from collections.abc import Callable, Sequence
from ipaddress import ip_network

import pytest
from msgspec.structs import replace

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.switches import Switches
from bullion.api import gate as gate_module
from bullion.api.gate import Caller, Gate
from bullion.budgets.limiter import Allowed, Charge, Exceeded, LimiterUnavailable, Throttled
from bullion.budgets.memory import MemoryLimiter
from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.source import Changes, Entry
from bullion.environment import Environment
from bullion.faults import StoreUnavailable
from bullion.keys.hashing import Hasher
from bullion.keys.issuer import KeyIssuer
from bullion.keys.key import Key, Scope
from bullion.keys.text import secret_from, write_key
from bullion.refusals.refusal import RefusalCode, RefusalError
from bullion.web.address import SourceAddress
from bullion.web.calls import Call
from bullion.web.headers import HeaderValues
from bullion.web.response import ConnectionMemory

pytestmark = pytest.mark.anyio

S = 1_000_000_000
PEER = "203.0.113.7"
HASHER = Hasher(b"a deployment's secret", "keys")
ACCOUNT = Account(1, "main", "aurum", None, "retail", active=True, api_access=True, production_trading=False)


class Clock:
    now_ns = 10**12

    def __call__(self) -> int:
        return self.now_ns


class Broken:
    """A limiter that cannot count."""

    def throttled(self, _failures: Charge) -> Throttled | None:
        return None

    async def take(
        self, _failures: Charge, *, failed: bool, charges: Sequence[Charge] = ()
    ) -> Allowed | Throttled | Exceeded:
        raise LimiterUnavailable


class Fixture:
    """A gate with one account behind it, and a store that can be cut off."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.catalogue = Catalogue(self.clock)
        self.reads = 0
        self.cut_off = False
        self.store_ahead_us = 0
        self.used: list[str] = []
        self.looked_up: list[str] = []
        self.arriving: list[Key] = []
        self.connection: ConnectionMemory = {}
        """All calls come over one connection."""
        self.limiter = MemoryLimiter(self.clock)
        self.gate = self.make_gate(self.limiter)
        self.catalogue.apply(
            Changes(1, 0, [Broker("main", "Main"), Switches("main"), ACCOUNT], whole=True), self.clock()
        )

    def make_gate(self, limiter: MemoryLimiter | Broken) -> Gate:
        return Gate(
            self.catalogue, self.look_up, limiter, HASHER, SourceAddress(()), "main", self.used.append
        )

    async def catch_up(self) -> None:
        self.reads += 1
        if self.cut_off:
            raise StoreUnavailable
        self.catalogue.apply(Changes(2, self.store_now_us(), self.arriving), self.clock())

    async def look_up(self, key_id: str) -> None:
        self.looked_up.append(key_id)
        await self.catch_up()

    def store_now_us(self) -> int:
        return self.clock() // 1000 + self.store_ahead_us

    def key(self, *, known: bool = True) -> str:
        new = KeyIssuer(HASHER, HASHER).new_key(1)
        key_id, secret = new.key_id, new.secret
        key = Key(
            key_id=key_id,
            broker="main",
            account_id=1,
            environment=Environment.TEST,
            name="a key",
            scopes=frozenset(Scope),
            secret_hash=HASHER.hash(secret.encode()),
            allowed_addresses=(),
            created_at_us=0,
        )
        if known:
            self.catalogue.keys[key_id] = key
        else:
            self.arriving.append(key)
        return write_key(Environment.TEST, "main", key_id, secret)

    async def call(
        self,
        text: str | None,
        gate: Gate | None = None,
        environment: Environment = Environment.TEST,
        scope: Scope = Scope.ACCOUNT_READ,
    ) -> Caller:
        headers = {} if text is None else {b"x-api-key": [text.encode()]}
        return await self.admit(headers, gate, environment, scope)

    async def admit(
        self,
        headers: HeaderValues,
        gate: Gate | None = None,
        environment: Environment = Environment.TEST,
        scope: Scope = Scope.ACCOUNT_READ,
        peer: str = PEER,
    ) -> Caller:
        return await (gate or self.gate).admit(
            Call(b"id", "GET"), headers, peer, environment, scope, connection=self.connection
        )

    async def code(self, text: str | None, gate: Gate | None = None) -> str:
        with pytest.raises(RefusalError) as caught:
            await self.call(text, gate)
        return caught.value.refusal.code

    def apply(self, changed: Entry, version: int = 3) -> None:
        self.catalogue.apply(Changes(version, self.store_now_us(), [changed]), self.clock())

    def stored(self, text: str) -> Key:
        return self.catalogue.keys[text.split(".")[2]]


async def test_a_valid_key_costs_no_read_of_the_store() -> None:
    fixture = Fixture()
    key = fixture.key()
    for _ in range(10):
        assert (await fixture.call(key)).account is ACCOUNT
    assert fixture.reads == 0
    assert fixture.used


async def test_a_failed_key_costs_one_read_whatever_its_fault() -> None:
    fixture = Fixture()
    known, other = fixture.key(), fixture.key()
    revoked_id = known.split(".")[2]
    wrong_secret = known.rpartition(".")[0] + "." + other.rpartition(".")[2]
    unknown = known.replace(revoked_id, "0" * 16)
    for number, text in enumerate((wrong_secret, unknown), start=1):
        assert await fixture.code(text) == "invalid_credential"
        assert fixture.reads == number
        assert fixture.looked_up[-1] == text.split(".")[2]


@pytest.mark.parametrize(
    "text", [None, "rubbish", write_key(Environment.TEST, "other", "0" * 16, secret_from(bytes(32)))]
)
async def test_what_the_text_alone_shows_costs_no_read(text: str | None) -> None:
    fixture = Fixture()
    await fixture.code(text)
    assert fixture.reads == 0


async def test_a_key_issued_a_moment_ago_elsewhere_is_found_by_that_read() -> None:
    fixture = Fixture()
    key = fixture.key(known=False)
    assert (await fixture.call(key)).account is ACCOUNT
    assert fixture.reads == 1


async def test_without_the_store_memory_serves_for_thirty_seconds() -> None:
    fixture = Fixture()
    key, unknown = fixture.key(), fixture.key(known=False)
    fixture.cut_off = True
    fixture.clock.now_ns += 30 * S
    await fixture.call(key)
    assert await fixture.code(unknown) == "invalid_credential"
    fixture.clock.now_ns += 1
    assert await fixture.code(key) == "service_unavailable"
    assert await fixture.code(unknown) == "service_unavailable"
    fixture.cut_off = False
    await fixture.catch_up()
    await fixture.call(key)


async def test_a_throttled_address_is_told_so_whatever_its_key_and_costs_no_read() -> None:
    fixture = Fixture()
    key, other = fixture.key(), fixture.key()
    wrong = key.rpartition(".")[0] + "." + other.rpartition(".")[2]
    for _ in range(fixture.catalogue.switches_of("main").budgets.failed_auth_per_minute):
        assert await fixture.code("rubbish") == "malformed_credential"
    for text in (key, wrong, "rubbish", None):
        assert await fixture.code(text) == "auth_throttled"
    assert fixture.reads == 0
    fixture.clock.now_ns += 31 * S
    assert await fixture.code(key) == "auth_throttled", "although memory is too old to answer from"


async def test_memory_that_lacks_keys_calls_none_wrong_while_it_cannot_look() -> None:
    fixture = Fixture()
    key, other, unknown = fixture.key(), fixture.key(), fixture.key(known=False)
    fixture.catalogue.clients.complete = False
    fixture.cut_off = True
    await fixture.call(key)
    wrong_secret = key.rpartition(".")[0] + "." + other.rpartition(".")[2]
    for text in (unknown, wrong_secret) * 20:
        assert await fixture.code(text) == "service_unavailable"
    await fixture.call(key)  # None of these was counted as a failure.
    key_id = other.split(".")[2]
    fixture.catalogue.keys[key_id] = replace(fixture.catalogue.keys[key_id], revoked_at_us=1)
    assert await fixture.code(other) == "credential_revoked"
    fixture.cut_off = False
    assert await fixture.code(wrong_secret) == "invalid_credential"
    await fixture.call(unknown)


@pytest.mark.parametrize(
    ("complete", "scope", "environment", "code"),
    [
        (True, Scope.ORDERS_WRITE, Environment.PRODUCTION, "invalid_credential"),
        (False, Scope.ORDERS_WRITE, Environment.PRODUCTION, "booking_unavailable"),
        (False, Scope.ORDERS_WRITE, Environment.TEST, "service_unavailable"),
    ],
)
async def test_a_caller_who_left_memory_while_his_order_waited(
    complete: bool, scope: Scope, environment: Environment, code: str
) -> None:
    fixture = Fixture()
    caller = await fixture.call(fixture.key())
    fixture.catalogue.keys.clear()
    fixture.catalogue.clients.complete = complete
    refusal = fixture.gate.recheck(caller.key.key_id, environment, "203.0.113.7", scope)
    assert isinstance(refusal, RefusalCode)
    assert refusal.code == code


@pytest.mark.parametrize(
    ("environment", "scope", "code"),
    [
        (Environment.PRODUCTION, Scope.ORDERS_WRITE, "booking_unavailable"),
        (Environment.PRODUCTION, Scope.ORDERS_READ, "service_unavailable"),
        (Environment.TEST, Scope.ORDERS_WRITE, "service_unavailable"),
    ],
)
async def test_after_that_a_production_order_is_refused_in_the_words_of_booking(
    environment: Environment, scope: Scope, code: str
) -> None:
    fixture = Fixture()
    text = write_key(environment, "main", "0" * 16, secret_from(bytes(32)))
    fixture.cut_off = True
    fixture.clock.now_ns += 30 * S + 1
    with pytest.raises(RefusalError) as caught:
        await fixture.call(text, None, environment, scope)
    assert caught.value.refusal.code == code


async def test_reads_pass_when_calls_cannot_be_counted() -> None:
    fixture = Fixture()
    gate = fixture.make_gate(Broken())
    caller = await fixture.call(fixture.key(), gate)
    assert caller.budget_state is None
    assert await fixture.code("rubbish", gate) == "malformed_credential"


async def test_expiry_goes_by_the_stores_clock_however_wrong_this_nodes_is() -> None:
    fixture = Fixture()
    fixture.store_ahead_us = 300_000_000
    await fixture.catch_up()
    key = fixture.key()
    key_id = key.split(".")[2]
    expiring = replace(fixture.catalogue.keys[key_id], expires_at_us=fixture.store_now_us() + 1_000_000)
    fixture.catalogue.keys[key_id] = expiring
    await fixture.call(key)
    fixture.clock.now_ns += S - 1000
    await fixture.call(key)
    fixture.clock.now_ns += 1000
    assert await fixture.code(key) == "credential_expired"


async def test_what_a_connection_proved_is_used_for_its_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    fixture = Fixture()
    key = fixture.key()
    first = await fixture.call(key)
    monkeypatch.setattr(gate_module, "read_key", None)
    second = await fixture.call(key)
    assert (second.key, second.account) == (first.key, first.account)
    assert first.budget_state is not None
    assert second.budget_state is not None
    assert second.budget_state.remaining == first.budget_state.remaining - 1
    assert len(fixture.used) == 2


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda key: replace(key, revoked_at_us=1), "credential_revoked"),
        (lambda key: replace(key, secret_hash=bytes(32)), "invalid_credential"),
        (lambda key: replace(key, scopes=frozenset({Scope.ORDERS_READ})), "insufficient_scope"),
        (lambda key: replace(key, allowed_addresses=(ip_network("192.0.2.0/24"),)), "address_not_allowed"),
        (lambda _: replace(ACCOUNT, api_access=False), "api_access_disabled"),
        (lambda _: replace(ACCOUNT, active=False), "account_inactive"),
    ],
)
@pytest.mark.parametrize("version", [1, 3], ids=["same version", "new version"])
async def test_a_change_ends_what_a_connection_proved(
    change: Callable[[Key], Entry], code: str, version: int
) -> None:
    """Without a new version, what changes was read for a call: memory did not hold it."""
    fixture = Fixture()
    key = fixture.key()
    await fixture.call(key)
    fixture.apply(change(fixture.stored(key)), version)
    fixture.arriving.append(fixture.stored(key))
    assert await fixture.code(key) == code


async def test_a_connection_is_not_let_in_by_switches_of_before() -> None:
    fixture = Fixture()
    key = fixture.key()
    await fixture.call(key)
    fixture.apply(Switches("main", moved=True))
    assert await fixture.code(key) == "service_unavailable"


async def test_a_connection_proves_nothing_for_another_call() -> None:
    """A proxy sends the calls of many clients over one connection."""
    fixture = Fixture()
    key, other = fixture.key(), fixture.key()
    await fixture.call(key)
    assert (await fixture.call(other)).key is fixture.stored(other)
    await fixture.call(key)
    wrong = key[:-51] + other[-51:]
    assert await fixture.code(wrong) == "invalid_credential"
    assert await fixture.code(None) == "missing_credential"
    sent = key.encode()
    for headers in (
        {b"x-api-key": [sent, sent]},
        {b"x-api-key": [sent + b"0"]},
        {b"x-api-key": [sent], b"host": [b"other.example"]},
    ):
        fixture.catalogue.hosts["other.example"] = "other"
        with pytest.raises(RefusalError):
            await fixture.admit(headers)
    with pytest.raises(RefusalError, match="wrong_environment"):
        await fixture.call(key, environment=Environment.PRODUCTION)
    assert (await fixture.call(key)).key is fixture.stored(key)


async def test_a_connection_is_let_in_from_the_address_it_names_now() -> None:
    fixture = Fixture()
    gate = Gate(
        fixture.catalogue,
        fixture.look_up,
        fixture.limiter,
        HASHER,
        SourceAddress([ip_network(f"{PEER}/32")]),
        "main",
        fixture.used.append,
    )
    text = fixture.key()
    limited = replace(fixture.stored(text), allowed_addresses=(ip_network("192.0.2.1/32"),))
    fixture.catalogue.keys[limited.key_id] = limited
    headers = {b"x-api-key": [text.encode()], b"x-forwarded-for": [b"192.0.2.1"]}
    await fixture.admit(headers, gate)
    with pytest.raises(RefusalError, match="address_not_allowed"):
        await fixture.admit({**headers, b"x-forwarded-for": [b"192.0.2.2"]}, gate)
    with pytest.raises(RefusalError, match="address_not_allowed"):
        await fixture.admit(headers, gate, peer="203.0.113.8")


async def test_a_connection_is_throttled_with_its_address() -> None:
    fixture = Fixture()
    key = fixture.key()
    await fixture.call(key)
    for _ in range(Switches("main").budgets.failed_auth_per_minute + 1):
        with pytest.raises(RefusalError):
            await fixture.call("rubbish")
    assert await fixture.code(key) == "auth_throttled"


async def test_what_a_connection_proved_is_not_told() -> None:
    fixture = Fixture()
    key = fixture.key()
    await fixture.call(key)
    assert key[-51:] not in repr(fixture.connection)


@pytest.mark.parametrize(
    "long",
    [
        {b"x-forwarded-for": [b"1" * 15_000]},
        {b"x-forwarded-for": [b""] * 100},
        {b"host": [b"h" * 2_000]},
    ],
)
async def test_an_idle_connection_keeps_no_long_headers(long: HeaderValues) -> None:
    fixture = Fixture()
    key = fixture.key()
    assert (await fixture.admit({b"x-api-key": [key.encode()], **long})).account is ACCOUNT
    assert not fixture.connection
    await fixture.call(key)
    assert fixture.connection
