"""The net position of all clients, its hedged part, and the rest."""

from bullion.desk.desk import Desk, View
from bullion.desk.registry import action
from bullion.metals.metal import Metal
from bullion.metals.weight import weight_text
from bullion.records.hedges import Exposure
from bullion.records.token import Actor


@action(
    "GET /hedge/exposure", command="hedge exposure", columns="metal net hedged unhedged unit waiting breaks"
)
async def get_exposure(desk: Desk, actor: Actor) -> list[View]:
    """Show the net position of all clients in production: in total, hedged and unhedged."""
    # Above zero is what clients have bought of the broker.
    found = await desk.read(actor, "exposure", lambda records: records.exposure(actor.broker))
    return [_view(metal, found.get(metal, Exposure())) for metal in Metal]


def _view(metal: Metal, exposure: Exposure) -> View:
    return {
        "metal": metal.value,
        "unit": metal.unit,
        "net": weight_text(exposure.net_e4),
        "hedged": weight_text(exposure.hedged_e4),
        "unhedged": weight_text(exposure.net_e4 - exposure.hedged_e4),
        "waiting": exposure.waiting,
        "breaks": exposure.breaks,
    }
