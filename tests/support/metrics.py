"""The metrics of a node, as monitoring reads them."""

import httpx

from .node import Node


def metrics_of(node: Node) -> dict[str, float]:
    """By name and labels, such as `bullion_line_up{line="spot"}`."""
    text = httpx.get(f"{node.desk_url}/metrics").text
    rows = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in rows}
