"""Brokers: only the deployment's first token creates and changes them."""

import re

from bullion.accounts.broker import Broker
from bullion.accounts.switches import Switches
from bullion.desk import texts
from bullion.desk.audit_wording.people import tell_broker
from bullion.desk.bodies import BrokerBody
from bullion.desk.desk import ChangeResult, Desk, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.desk.unreadable import read_or_unreadable, view_of
from bullion.faults import AlreadyExists
from bullion.keys.text import BROKER_TAG
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT, ROLE_TOO_LOW
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records
from bullion.unreadable import Unreadable


def view(broker: Broker) -> View:
    return {"tag": broker.tag, "name": broker.name, "hosts": list(broker.hosts)}


def _placed_view(broker: Broker) -> View:
    """With the address of the store that it was moved to, if it was."""
    return view(broker) if broker.moved_to is None else {**view(broker), "moved_to": broker.moved_to}


@action(
    "PUT /brokers/{tag}", Role.ADMIN, audit_text="changed the broker", tell=tell_broker, command="brokers put"
)
async def put_broker(desk: Desk, actor: Actor, tag: str, body: BrokerBody, *, only_new: bool = False) -> View:
    """Create or change the broker TAG."""
    # With `only_new`, AlreadyExists is raised for a broker that exists.
    if not actor.first:
        raise RefusalError(ROLE_TOO_LOW, "Only the deployment's first token may create or change brokers.")
    if not re.fullmatch(BROKER_TAG, tag):
        message = "use up to 32 of a-z, 0-9 and -, beginning with a letter or digit"
        raise invalid_field(("tag",), message, "bad_character", within="path")
    hosts = tuple(sorted({texts.host(host) for host in body.hosts}))
    broker = Broker(tag, body.name, hosts)

    async def work(records: Records) -> ChangeResult:
        before = await read_or_unreadable(records.broker(tag))
        if only_new and before is not None:
            raise AlreadyExists(tag)
        try:
            await records.put_broker(broker)
        except AlreadyExists:
            raise RefusalError(CONFLICT, f"One of {', '.join(hosts)} belongs to another broker.") from None
        if before is None:
            await records.put_switches(Switches(tag))
            return ChangeResult(None, view(broker), begins_trail=True)
        return ChangeResult(view_of(before, view), view(broker))

    return await desk.change(actor, tag, work, broker=tag)


@action("GET /brokers", command="brokers list", columns="tag name hosts moved_to")
async def list_brokers(desk: Desk, actor: Actor) -> list[View]:
    """List the brokers you may see."""
    # The first token sees them all, every other its own.
    brokers = await desk.read(actor, "brokers", lambda records: records.brokers())
    seen = (each for each in brokers if actor.first or _tag(each) == actor.broker)
    return [view_of(each, _placed_view) for each in seen]


def _tag(broker: Broker | Unreadable) -> str:
    return broker.broker if isinstance(broker, Unreadable) else broker.tag
