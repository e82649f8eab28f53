"""Calls about what is traded and when: brokers, symbols, groups, switches."""

from bullion.desk import bodies, conversion
from bullion.desk.actions import brokers, groups, switches, symbols
from bullion.desk_api.request import Request, Resources, listed, paged
from bullion.web.answer import Answer, json_answer


async def _get_brokers(request: Request) -> Answer:
    found = await brokers.list_brokers(request.desk, request.actor)
    return paged(found, request.page())


async def _put_broker(request: Request) -> Answer:
    body = conversion.read(request.body, bodies.BrokerBody)
    return json_answer(await brokers.put_broker(request.desk, request.actor, request.path["tag"], body))


async def _get_symbols(request: Request) -> Answer:
    return listed(await symbols.list_symbols(request.desk, request.actor, request.page()))


async def _put_symbol(request: Request) -> Answer:
    body = conversion.read(request.body, bodies.SymbolBody)
    return json_answer(await symbols.put_symbol(request.desk, request.actor, request.path["code"], body))


async def _patch_symbol(request: Request) -> Answer:
    changes = conversion.Changes(bodies.SymbolBody, conversion.read_json(request.body))
    return json_answer(await symbols.patch_symbol(request.desk, request.actor, request.path["code"], changes))


async def _get_groups(request: Request) -> Answer:
    return listed(await groups.list_groups(request.desk, request.actor, request.page()))


async def _put_group(request: Request) -> Answer:
    body = conversion.read(request.body, bodies.GroupBody)
    return json_answer(await groups.put_group(request.desk, request.actor, request.path["code"], body))


async def _get_switches(request: Request) -> Answer:
    return json_answer(await switches.get_switches(request.desk, request.actor))


async def _patch_switches(request: Request) -> Answer:
    return json_answer(
        await switches.patch_switches(
            request.desk,
            request.actor,
            conversion.Changes(bodies.SwitchesBody, conversion.read_json(request.body)),
        )
    )


RESOURCES: Resources = {
    "/brokers": {"GET": _get_brokers},
    "/brokers/{tag}": {"PUT": _put_broker},
    "/symbols": {"GET": _get_symbols},
    "/symbols/{code}": {"PUT": _put_symbol, "PATCH": _patch_symbol},
    "/groups": {"GET": _get_groups},
    "/groups/{code}": {"PUT": _put_group},
    "/switches": {"GET": _get_switches, "PATCH": _patch_switches},
}
