"""The example answers of a call. Where environments differ, each is shown with its own."""

from collections.abc import Iterator
from html import escape

from .calls import Endpoint, media
from .pieces import Json, badges, figure, json_code, status_mark


def example_answers(endpoint: Endpoint) -> str:
    """Side by side, each environment in its own column."""
    columns: dict[str, list[str]] = {}
    for (status, code), where in endpoint.said(_answers).items():
        caption = f"Example answer {status_mark(status)}{badges(where)}"
        columns.setdefault(badges(where), []).append(figure(caption, code))
    shown = "".join(f"<div>{''.join(figures)}</div>" for figures in columns.values())
    return f'<div class="examples">{shown}</div>' if shown else ""


def _answers(operation: Json) -> Iterator[tuple[str, str]]:
    """With their status; one that looks just like an earlier one is left out."""
    shown = set()
    for status, response in operation["responses"].items():
        code = _shown(response)
        if code and code not in shown:
            shown.add(code)
            yield status, code


def _shown(response: Json) -> str:
    if "example" not in media(response):
        return ""
    example = media(response)["example"]
    if "text/event-stream" in response["content"]:
        return escape("\n".join(f"{field}: {value}" for field, value in example.items()))
    return json_code(example)


def example_refusals(endpoint: Endpoint) -> str:
    """Refusals with an example of this call's own: they say more than a code and a message."""
    return "".join(
        figure(f"Example of <code>{escape(name)}</code>{badges(where)}", code)
        for (name, code), where in endpoint.said(_own_refusals).items()
    )


def _own_refusals(operation: Json) -> Iterator[tuple[str, str]]:
    for response in operation["responses"].values():
        for name, example in media(response).get("examples", {}).items():
            if "value" in example:
                yield name, json_code(example["value"])
