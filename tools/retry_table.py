"""The text of `src/bullion_client/retry_table.py`: the refusal catalogue without an import of the service."""

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
    flags = {
        "settles": row.settles_key or row.proves is Proof.SETTLED,
        "looked_up": row.proves is Proof.NOT_RECORDED,
        "unsure": row.proves is Proof.UNSURE,
    }
    values = [f"Retry.{row.retry.name}", f"Family.{row.family.name}"]
    return f"Advice({', '.join([*values, *(f'{name}=True' for name, holds in flags.items() if holds)])})"
