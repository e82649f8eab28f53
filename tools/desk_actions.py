"""The table of the desk's actions for docs/desk.md, from their registry."""

from pathlib import Path

from bullion.desk.registry import Action, all_actions
from bullion.desk_api.app import BASE
from bullion.desk_api.routes import desk_routes
from bullion.web.response import encode_json

BEGIN = "<!-- Actions: written by `make generate` from src/bullion/desk/actions. Change that, not this. -->"
END = "<!-- End of the actions. -->"
_OWN_COMMANDS = {"archive_old_orders": "archive orders"}
_NONE = "–"


def desk_page(root: Path) -> str:
    """The page as it is, with what stands between the two marks written anew."""
    page = (root / "docs/desk.md").read_text("utf-8")
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("docs/desk.md lacks the two comments between which the actions stand.")
    by_route = {(each.method, each.path): each for each in all_actions().values()}
    rows = [_row(by_route[route.method, route.path]) for route in desk_routes()]
    table = "\n".join(["| Call | Command | Role |", "| - | - | - |", *rows])
    return f"{before}{begin}\n\n{table}\n\n{end}{after}"


def _row(action: Action) -> str:
    command = action.command or _OWN_COMMANDS.get(action.name)
    role = f"`{action.role}`"
    if action.least_role is not action.role:
        values = [f"{name}={encode_json(value).decode()}" for name, value in action.dealer_values.items()]
        fields = " and ".join(f"`{each}`" for each in sorted([*action.dealer_fields, *values]))
        role = f"`{action.least_role}` for {fields} alone, else {role}"
    shown = f"`bullion desk {command}`" if command else _NONE
    return f"| `{action.method} {BASE}{action.path}` | {shown} | {role} |"
