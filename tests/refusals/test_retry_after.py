"""Every 503 names its wait, whoever raises it and whatever they say besides."""

import pytest

from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import Env, RefusalCode, RefusalError, Retry
from bullion.web.response import refusal_response


def wait(refused: RefusalError) -> bytes | None:
    return dict(refusal_response(refused).headers).get(b"retry-after")


@pytest.mark.parametrize("row", [row for row in CATALOGUE if row.status == 503], ids=lambda row: row.code)
def test_each_503_of_the_catalogue_says_how_long_to_wait(row: RefusalCode) -> None:
    assert row.retry is Retry.SAME_KEY_AFTER
    told = wait(RefusalError(row))
    assert told is not None
    assert told.isdigit()
    assert int(told) >= 1
    assert wait(RefusalError(row, "In other words.", retry_after_s=7)) == b"7"


def test_a_new_503_cannot_be_without() -> None:
    assert wait(RefusalError(RefusalCode("new", 503, Env.BOTH, "When it is new.", "It is new."))) == b"1"


def test_no_other_refusal_has_a_wait_of_its_own() -> None:
    for row in CATALOGUE:
        if row.status != 503:
            assert wait(RefusalError(row)) is None
            assert (row.retry is Retry.SAME_KEY_AFTER) == (row.status == 429)
