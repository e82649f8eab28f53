"""The desk's own actions over a store, without a server before them."""

from bullion.desk.desk import Desk
from bullion.keys.hashing import Hasher
from bullion.keys.issuer import KeyIssuer
from bullion.records.audit import Chain
from bullion.records.token import Actor, Role
from bullion.store.engine import Engine
from bullion.store.records import RecordStore

ADMIN = Actor("Asha (1)", Role.ADMIN, "main")
OTHER = Actor("Bela (2)", Role.ADMIN, "other")


def desk_over(engine: Engine) -> Desk:
    chain, keys, lanes, tokens = (Hasher(b"secret", each) for each in ("audit", "keys", "lanes", "tokens"))
    return Desk(RecordStore(engine), Chain(chain), KeyIssuer(keys, lanes), tokens, _nothing)


async def _nothing() -> None:
    return None
