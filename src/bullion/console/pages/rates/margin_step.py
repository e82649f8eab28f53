"""The press of a stepper: a margin of one group in one symbol moves, on one side."""

from bullion.console.forms import Dialog
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import RATES
from bullion.console.widgets.formatting import rupees
from bullion.desk.actions.groups import step_margin
from bullion.desk.bodies import MarginStepBody
from bullion.desk.conversion import convert

CLIENT = {"buy": "client buys", "sell": "client sells"}


async def _ask(visit: Visit) -> Dialog:
    return Dialog(title=f"Step the margin of {visit.param('group')}?", confirm="Step")


async def _step(visit: Visit) -> Result:
    given = {name: visit.param(name) for name in ("symbol", "side", "by", "seen")}
    body = convert(given, MarginStepBody)
    done = await step_margin(visit.desk, visit.actor, visit.param("group"), body)
    margins = f"{rupees(done['margin_before'])} → {rupees(done['margin'])}"
    return Result(f"{done['code']} {body.symbol}, {CLIENT[body.side]}: margin {margins}.")


STEP = Action(RATES, "step", "Step", step_margin, _ask, _step)
