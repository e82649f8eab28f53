"""One-time codes: the vectors of the RFCs, the window, and what an app is given."""

import pytest

from bullion.keys.totp import STEP_S, app_address, code_at, matching_step, secret_text

SECRET = b"12345678901234567890"
"""Of the test vectors in RFC 4226 and RFC 6238."""
RFC_4226 = (
    "755224",
    "287082",
    "359152",
    "969429",
    "338314",
    "254676",
    "287922",
    "162583",
    "399871",
    "520489",
)


@pytest.mark.parametrize(
    ("counter", "code"),
    [*enumerate(RFC_4226)],
)
def test_the_vectors_of_rfc_4226(counter: int, code: str) -> None:
    assert code_at(SECRET, counter) == code


@pytest.mark.parametrize(
    ("at_s", "code"),
    [
        (59, "94287082"),
        (1111111109, "07081804"),
        (1111111111, "14050471"),
        (1234567890, "89005924"),
        (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)
def test_the_vectors_of_rfc_6238(at_s: int, code: str) -> None:
    assert code_at(SECRET, at_s // STEP_S, digits=8) == code
    assert matching_step(SECRET, code[2:], at_s * 1_000_000) == at_s // STEP_S


@pytest.mark.parametrize(("off", "found"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_a_clock_may_be_one_step_off(off: int, found: bool) -> None:
    now = 1_000_000
    code = code_at(SECRET, now + off)
    assert matching_step(SECRET, code, now * STEP_S * 1_000_000) == (now + off if found else None)


@pytest.mark.parametrize("code", ["", "28708", "2870822", "28708a", "２８７０８２", "-87082", "287082 "])
def test_what_is_no_code_matches_nothing(code: str) -> None:
    assert matching_step(SECRET, code, 59 * 1_000_000) is None


def test_what_an_app_is_given() -> None:
    assert secret_text(SECRET) == "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    address = app_address(SECRET, "Shree & Sons", "Asha, dealing")
    assert address == (
        "otpauth://totp/Shree%20%26%20Sons:Asha%2C%20dealing"
        "?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Shree%20%26%20Sons"
    )
