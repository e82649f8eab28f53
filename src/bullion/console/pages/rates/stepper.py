"""The margin below a price, with a button for a step down and one for a step up."""

from functools import lru_cache

from bullion.console.html import Html, el
from bullion.console.pages.market.groups import EDIT
from bullion.console.widgets.formatting import grouped, trim_zeros
from bullion.metals.rupees import rupees_text
from bullion.metals.symbol import Side

from .margin_step import CLIENT, STEP

OLD_NOTE = "old-prices"
"""The id of the note that says why steppers are locked."""


def amount(paise: int) -> str:
    """Rupees without needless zeros."""
    return grouped(trim_zeros(rupees_text(paise)))


# Kept: prices move every second, and margins hardly ever.
@lru_cache(maxsize=8192)
def stepper(
    group: str, symbol: str, side: Side, margin_paise: int, step_paise: int, *, changed: bool, locked: bool
) -> Html:
    """`changed`: within the last minute."""
    name, step = f"{group} {symbol}, {CLIENT[side]}", amount(step_paise)
    path = STEP.path("actions", {"group": group, "symbol": symbol, "side": side.value})

    def button(by_paise: int, text: str, label: str) -> Html:
        return el(
            "button",
            text,
            type="button",
            data_step=path,
            data_seen=margin_paise,
            data_by=by_paise,
            aria_label=label,
            aria_disabled="true" if locked else None,
            aria_describedby=OLD_NOTE if locked else None,
        )

    margin = amount(margin_paise)
    edit = el(
        "button",
        margin,
        type="button",
        class_="margin",
        data_dialog=EDIT.path("dialogs", {"group": group, "symbol": symbol}),
        aria_haspopup="dialog",
        aria_label=f"Margin {margin}, {name}: edit the terms",
    )
    return el(
        "span",
        button(-step_paise, f"\N{MINUS SIGN}{step}", f"Earn {step} less: {name}"),
        edit,
        button(step_paise, f"+{step}", f"Earn {step} more: {name}"),
        class_="step changed-here" if changed else "step",
        role="group",
        aria_label=f"Margin, {name}",
    )
