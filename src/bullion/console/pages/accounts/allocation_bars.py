"""What an account holds of its allocation, as bars."""

from bullion.console.html import Html, el
from bullion.console.widgets.charts import meter
from bullion.console.widgets.formatting import grouped, weight
from bullion.desk.desk import View
from bullion.environment import Environment
from bullion.metals.metal import Metal

ENVIRONMENTS = (Environment.PRODUCTION, Environment.TEST)
"""What is real comes first."""


def used_bar(position: View, metal: Metal, environment: Environment) -> Html:
    """One metal of one book: 120 of 5,000 g."""
    limit = weight(position["limit"], position["unit"])
    used = weight(position["used"], position["unit"]).rpartition("\N{NO-BREAK SPACE}")[0]
    label = f"{metal.capitalize()} in {environment}: {used} of {limit} used"
    return el(
        "span",
        el("span", metal.capitalize(), class_="metal"),
        meter(position["percent"], label=label),
        el("span", f"{used} of {limit}", class_="amount"),
        class_="used",
        data_used=f"{environment} {metal}",
    )


def used_bars(book: View, environment: Environment) -> list[Html]:
    return [used_bar(book[metal], metal, environment) for metal in Metal]


def side_words(position: View) -> str:
    """Whether the client has bought or sold, in words."""
    if position["net"].strip("-0.") == "":
        return "nothing open"
    return "net sold to us" if position["net"].startswith("-") else "net bought of us"


def percent_words(percent: int) -> str:
    return "over the limit" if percent > 100 else f"{grouped(str(percent))} %"
