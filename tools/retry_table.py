"""The refusal catalogue for the clients in Python and TypeScript: what each refusal advises and proves."""

from collections.abc import Sequence

from bullion.refusals.refusal import Proof, RefusalCode

_HEAD = '''\
"""What each refusal advises.

Written by `make generate` from src/bullion/refusals/catalogue.py. Change that, not this.
"""

from bullion_client.advice import Advice, Family, Retry

RETRY_TABLE: dict[str, Advice] = {
'''


def retry_table(rows: Sequence[RefusalCode]) -> str:
    return _HEAD + "".join(f'    "{row.code}": {_advice(row)},\n' for row in rows) + "}\n"


def _advice(row: RefusalCode) -> str:
    values = [f"Retry.{row.retry.name}", f"Family.{row.family.name}"]
    return f"Advice({', '.join([*values, *(f'{name}=True' for name in _flags(row))])})"


def _flags(row: RefusalCode) -> list[str]:
    flags = {
        "settles": row.settles_key or row.proves is Proof.SETTLED,
        "looked_up": row.proves is Proof.NOT_RECORDED,
        "unsure": row.proves is Proof.UNSURE,
    }
    return [name for name, holds in flags.items() if holds]


_TYPESCRIPT_HEAD = """\
// What each refusal advises.
// Written by `make generate` from src/bullion/refusals/catalogue.py. Change that, not this.

export interface Advice {
  readonly retry: "never" | "same_key" | "same_key_after" | "new_key";
  /** It is the final outcome of the key. */
  readonly settles?: true;
  /** The key was looked up, and nothing was recorded under it then. */
  readonly lookedUp?: true;
  /** The try may have booked the order. */
  readonly unsure?: true;
}

export const REFUSALS: Readonly<Record<string, Advice>> = {
"""
_IN_TYPESCRIPT = {"looked_up": "lookedUp"}


def typescript_table(rows: Sequence[RefusalCode]) -> str:
    return _TYPESCRIPT_HEAD + "".join(f"  {row.code}: {_typescript_advice(row)},\n" for row in rows) + "};\n"


def _typescript_advice(row: RefusalCode) -> str:
    values = [f'retry: "{row.retry.name.lower()}"']
    flags = [f"{_IN_TYPESCRIPT.get(name, name)}: true" for name in _flags(row)]
    return "{ " + ", ".join([*values, *flags]) + " }"
