"""The text of `docs/refusals.md`: the refusal catalogue for whoever writes a client."""

from collections.abc import Iterable

from bullion.api.openapi import RETRY_ADVICE
from bullion.refusals.refusal import Env, RefusalCode

_INTRODUCTION = """\
<!-- Written by `make generate` from src/bullion/refusals/catalogue.py. Change that, not this. -->

# Refusals

A call that is not carried out is refused: it is answered with an HTTP status and a body that says why.

## How to read one

```json
{"detail": {"code": "rate_limited", "message": "…"}}
```

- `detail.code` is stable. Branch on it.
- `detail.message` is for people. It may change, and it often says more than this page: which scope is
  missing, how much of the allocation is left.
- A few codes bring more fields beside these two; the table names them.
- `Retry-After`, where an answer has it, is the number of whole seconds to wait.
- `X-Request-Id` is on every answer. Quote it when you ask the operator about a refusal; never quote the key.

A 404 whose `detail` is a plain text instead of an object is no refusal: the host or the path is wrong.

A client should be ready for codes that are not listed yet. Send a 429 or a 503 again later, an order with
the same `Idempotency-Key`, and take any other 4xx as final.

## Which one you get

The checks are made in the order of the table below, and the first that fails answers. So a call with an
expired key and an invalid body is told about the key, and learns about the body once the key is in order.

Two things stand outside that order. An order that is already recorded is found again by its
`Idempotency-Key`, sent with the same body: no switch, halt, stale rate or limit hides it. And the faults of
the service itself, last in the table, can answer at any point.

## What it means for the Idempotency-Key

A key is settled once its order is recorded, and by the refusals that say so in the table. Sent again with
the same body, a settled key gives that order or that refusal again. Every other refusal leaves the key free:
the same order may be sent with it again, and is judged anew.

## The table
"""

_COLUMNS = ("", "Code", "Status", "Environment", "When", "What to do", "Settles the key", "Origin")
_ENVIRONMENTS = {Env.BOTH: "both", Env.PROD: "production", Env.TEST: "test"}
_ORIGIN = (
    "Origin: a *specified* code is one of the API's specification; an *addition* is ours, for what the",
    "specification leaves open. An addition has the same body and is safe to treat by its status alone.",
)


def refusals_page(rows: Iterable[RefusalCode]) -> str:
    lines = [_line(_COLUMNS), _line(["-"] * len(_COLUMNS))]
    lines.extend(_line(_cells(number, row)) for number, row in enumerate(rows, 1))
    return f"{_INTRODUCTION}\n" + "\n".join([*lines, "", *_ORIGIN]) + "\n"


def _cells(number: int, row: RefusalCode) -> Iterable[str]:
    return (
        str(number),
        f"`{row.code}`",
        str(row.status),
        _ENVIRONMENTS[row.env],
        row.when,
        RETRY_ADVICE[row.retry],
        "yes" if row.settles_key else "no",
        "specified" if row.specified else "addition",
    )


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
