"""The table of answers: what a call is answered with, by status, and in which environment."""

from collections.abc import Callable, Iterator, Sequence

from .calls import Endpoint, media
from .pieces import Json, badges, chip, prose, status_mark
from .shapes import type_words

_PLAIN_REFUSAL = {"$ref": "#/components/schemas/Refusal"}


def answer_rows(endpoint: Endpoint, description: Json) -> Iterator[Sequence[str]]:
    """A row for each status. What every answer carries is left to the table of headers."""
    headers = description["components"]["headers"]
    statuses = {status for operation in endpoint.operations.values() for status in operation["responses"]}
    for status in sorted(statuses):
        carried = endpoint.said(_of(status, lambda response: list(response["headers"])))
        yield (
            status_mark(status),
            _successes(endpoint, status) + _refusals(endpoint, status, description["x-refusals"]),
            " ".join(chip(name, "header-" + name) for name in carried if "required" not in headers[name]),
        )


def _successes(endpoint: Endpoint, status: str) -> str:
    """What is answered, once for each way it is answered."""
    return "".join(
        f"<div>{badges(where)} {text}</div>" for text, where in endpoint.said(_of(status, _success)).items()
    )


def _refusals(endpoint: Endpoint, status: str, refusals: list[Json]) -> str:
    """The codes in the order of the checks, those of both environments first, and what has further fields."""
    codes = endpoint.said(_of(status, _codes))
    lines: dict[str, list[str]] = {"": []}
    for row in refusals:
        if row["code"] in codes:
            line = lines.setdefault(badges(codes[row["code"]]), [])
            line.append(chip(row["code"], "refusal-" + row["code"]))
    for body, where in endpoint.said(_of(status, _own_bodies)).items():
        lines.setdefault(badges(where), []).append(f"<br>with further fields: {body}")
    return "".join(f"<div>{where} {' '.join(line)}</div>" for where, line in lines.items() if line)


def _of(status: str, say: Callable[[Json], list[str]]) -> Callable[[Json], list[str]]:
    """What an operation says of its answer with this status, if it has one."""
    return lambda operation: say(operation["responses"][status]) if status in operation["responses"] else []


def _success(response: Json) -> list[str]:
    if _codes(response):
        return []
    return [f"{prose(response['description'])} {type_words(media(response)['schema'])}"]


def _codes(response: Json) -> list[str]:
    """Refused answers have examples by their code, others have one example."""
    return list(media(response).get("examples", ()))


def _own_bodies(response: Json) -> list[str]:
    """The schemas of refusals whose bodies have more than the others'."""
    schema = media(response)["schema"]
    bodies = schema.get("oneOf", (schema,)) if _codes(response) else ()
    return [type_words(body) for body in bodies if body != _PLAIN_REFUSAL]
