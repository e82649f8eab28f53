"""The pictures of the documentation that are drawn from words, by the names of their files."""

from pathlib import Path

from tools.pictures.booking_phases import booking_phases
from tools.pictures.deployment import many_machines, one_machine
from tools.pictures.order_way import order_way
from tools.pictures.retry import retry
from tools.pictures.rooms import rooms


def pictures(root: Path) -> dict[str, str]:
    drawn = {
        "booking-phases": booking_phases(),
        "deployment-many": many_machines(),
        "deployment-one": one_machine(),
        "order-way": order_way(),
        "retry": retry(),
        "rooms": rooms(root),
    }
    return {f"docs/pictures/{name}.svg": svg for name, svg in drawn.items()}
