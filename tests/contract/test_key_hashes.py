"""Keys get new hashes in batches, and only with the secret that is the store's own. On both engines."""

import pytest

from bullion.keys.hashing import Hasher, fingerprint
from bullion.store.engine import Engine
from bullion.store.key_hashes import KeyHashes
from bullion.store.records import RecordStore
from tests.booking.fixtures import create_books, rows

from .test_clients_on_use import key_id, new_key

pytestmark = pytest.mark.anyio

OLD, NEW = (Hasher(secret * 32, "keys") for secret in (b"o", b"n"))
TEXT = b"the secret of a key"


async def stored(engine: Engine) -> list[tuple[str, str]]:
    found = await rows(engine, "SELECT secret_hash, secret_id FROM keys ORDER BY key_id")
    return [(row["secret_hash"], row["secret_id"]) for row in found]


async def test_only_the_secret_of_the_store_makes_new_hashes(engine: Engine) -> None:
    books = await create_books(engine, 1)
    old, new = OLD.hash(TEXT), NEW.hash(TEXT)

    async def issue(number: int) -> None:
        key = new_key(books[0] // 2, key_id(number))
        await RecordStore(engine).write("issue", lambda records: records.insert_key(key, OLD.secret_id))

    for number in (1, 2):
        await issue(number)
    await rows(engine, f"UPDATE keys SET secret_hash = '{old.hex()}'")
    before = [(old.hex(), OLD.secret_id)] * 2
    await rows(engine, f"INSERT INTO deployment VALUES ('secret_fingerprint', '{fingerprint(b'o' * 32)}')")
    early = KeyHashes(engine, NEW.secret_id)
    early.add(key_id(1), old, new)
    await early.write()
    assert await stored(engine) == before
    await rows(engine, f"UPDATE deployment SET value = '{fingerprint(b'n' * 32)}'")
    hashes = KeyHashes(engine, NEW.secret_id)
    hashes.add(key_id(1), old, new)
    hashes.add(key_id(2), b"another".ljust(32), new)
    hashes.add("unknown", old, new)
    await hashes.write()
    after = [(new.hex(), NEW.secret_id), before[1]]
    assert await stored(engine) == after
    late = KeyHashes(engine, OLD.secret_id)
    late.add(key_id(1), new, old)
    await late.write()
    assert await stored(engine) == after
