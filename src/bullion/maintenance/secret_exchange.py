"""`bullion secret exchange` and `bullion secret status`: replace the secret of a store.

Nodes know both secrets during the exchange. It makes the new secret the one of the store, seals the audit
trails with it, and encrypts the secrets of second factors and webhooks with it. Nodes that start afterwards
hash with it, and rehash each key and token when it is used.
"""

from dataclasses import dataclass

import click
import msgspec

from bullion.keys.encryption import Cipher, NotDecryptable
from bullion.keys.hashing import Hasher, fingerprint
from bullion.records.audit import BEGINNING, Break, Chain, ChainVerifier, Entry
from bullion.settings import Settings, WrongSetting
from bullion.store.engine import Transaction, one_row
from bullion.store.records import Records, audit_head
from bullion.wiring.store import Store, factor_cipher, open_store, secrets_of, webhook_cipher

_json = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class SecretUse:
    """Hashes of one kind, and how many of them still need another secret."""

    kind: str
    total: int
    others: int
    in_force: int


async def exchange(settings: Settings, actor: str) -> int:
    """Make BULLION_SECRET the secret of the store, and return the exit code."""
    if settings.secret_old is None:
        raise WrongSetting(
            "Set BULLION_SECRET to the new secret and BULLION_SECRET_OLD to the old one first."
        )
    new, _ = secrets_of(settings, may_create=False)
    async with open_store(settings, migrate=False) as store:
        await _set_secret(store, new)
        await _reencrypt_factors(store, factor_cipher(new))
        await _reencrypt_webhooks(store, webhook_cipher(new))
        broken = await _seal_trails(store, Chain(Hasher(new, "audit")), actor)
    for each in broken:
        place = f"entry {each.ordinal}: {each.why}"
        click.echo(f"{each.broker}: the audit trail is broken ({place}), and was left as it is.")
    click.echo(
        "BULLION_SECRET is the secret of the store now. Restart all nodes one by one, and the console."
    )
    return 1 if broken else 0


async def status(settings: Settings) -> int:
    """Print what still needs the old secret, and return the exit code."""
    new = secrets_of(settings, may_create=False)[0]
    async with open_store(settings, migrate=False) as store:
        exchanged = store.hashers.keys.secret_id == Hasher(new, "keys").secret_id
        left = await _secret_uses(store, new)
    if not exchanged:
        click.echo("BULLION_SECRET is not the secret of the store yet: run 'bullion secret exchange'.")
    for each in left:
        click.echo(
            f"{each.kind} under another secret: {each.others} of {each.total}, in force: {each.in_force}."
        )
    done = exchanged and not any(each.in_force for each in left)
    click.echo(
        "Nothing in force needs the old secret."
        if done
        else "Keep BULLION_SECRET_OLD until nothing in force needs it."
    )
    return 0 if done else 1


async def _set_secret(store: Store, new: bytes) -> None:
    async def body(transaction: Transaction) -> None:
        await transaction.run("put_deployment_value", "secret_fingerprint", fingerprint(new))

    await store.engine.write("exchange_secret", body)


async def _reencrypt_factors(store: Store, cipher: Cipher) -> None:
    """The secrets of second factors. One that cannot be decrypted is left: its user cannot log in with it."""

    async def body(records: Records) -> None:
        for factor in await records.second_factors():
            try:
                secret = store.hashers.factors.decrypt(factor.encrypted_secret, factor.user_id)
            except NotDecryptable:
                continue
            encrypted = cipher.encrypt(secret, factor.user_id)
            await records.reencrypt_factor(factor, encrypted, cipher.secret_id)

    await store.records.write("exchange_secret", body, catalogue=False)


async def _reencrypt_webhooks(store: Store, cipher: Cipher) -> None:
    """The secrets of webhooks. One that cannot be decrypted is left: it has to be rotated."""

    def convert(encrypted: str, webhook_id: str) -> str | None:
        try:
            return cipher.encrypt(store.hashers.webhooks.decrypt(encrypted, webhook_id), webhook_id)
        except NotDecryptable:
            return None

    async def body(records: Records) -> None:
        await records.reencrypt_webhooks(convert, cipher.secret_id)

    await store.records.write("exchange_secret", body, catalogue=False)


async def _seal_trails(store: Store, chain: Chain, actor: str) -> list[Break]:
    """One transaction for each broker, which blocks other writers of the trail. Sealed trails are skipped."""
    broken: list[Break] = []
    for broker in await store.records.read("audit_brokers", lambda records: records.audited_brokers()):

        async def body(records: Records, broker: str = broker) -> list[Break]:
            return await _seal_trail(records, broker, store.chain, chain, actor)

        broken += await store.records.write("exchange_secret", body, catalogue=False)
    return broken


async def _seal_trail(records: Records, broker: str, old: Chain, new: Chain, actor: str) -> list[Break]:
    """Only an intact chain gets new hashes: a broken one would look intact afterwards."""
    head = await records.lock_audit_head(broker)
    if head is not None and new.sealed(broker, head):
        return []
    verifier = ChainVerifier(old, broker)
    breaks: list[Break] = []
    async for entries in records.audit_pages(broker):
        breaks += verifier.check(entries)
    breaks += verifier.check_head(head)
    if breaks or head is None:
        return breaks[:1]
    before = BEGINNING
    async for entries in records.audit_pages(broker):
        hashes = []
        for entry in entries:
            before = new.link(before, entry).hash
            hashes.append((entry.ordinal, before))
        await records.reseal_audit(broker, hashes)
    note = Entry(
        broker=broker,
        ordinal=0,
        at_us=await records.now_us(),
        actor=actor,
        action="exchange_secret",
        subject="the deployment's secret",
        before=_json({"entries": head.count, "hash": head.hash}).decode(),
        after=_json({"entries": head.count, "hash": before}).decode(),
    )
    await records.append_audit(*new.append(new.head(broker, head.count, before), note))
    return []


async def _secret_uses(store: Store, new: bytes) -> list[SecretUse]:
    secret_id, chain = Hasher(new, "keys").secret_id, Chain(Hasher(new, "audit"))

    async def body(transaction: Transaction) -> list[SecretUse]:
        now_us = (await one_row(transaction, "catalogue_state"))["clock_us"]
        rows = await transaction.all("count_hashes", secret_id, now_us)
        found = [
            SecretUse(row["kind"].capitalize(), row["total"], row["others"], row["in_force"]) for row in rows
        ]
        factors = await transaction.all("all_second_factors")
        left = sum(1 for row in factors if row["secret_id"] != secret_id)
        found.append(SecretUse("Second factors", len(factors), left, left))
        webhooks = await transaction.all("all_webhook_secrets")
        left = sum(1 for row in webhooks if row["secret_id"] != secret_id)
        found.append(SecretUse("Webhooks", len(webhooks), left, left))
        heads = [
            (row["broker"], audit_head(await transaction.one("audit_head", row["broker"])))
            for row in await transaction.all("audit_brokers")
        ]
        others = sum(1 for broker, head in heads if head is not None and not chain.sealed(broker, head))
        return [*found, SecretUse("Audit trails", len(heads), others, others)]

    return await store.engine.read_whole("secret_status", body)
