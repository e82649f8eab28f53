"""Short secrets, encrypted with the deployment's secret."""

import pytest

from bullion.keys.encryption import TEXT_BYTES_MAX, Cipher, NotDecryptable

TEXT = b"twenty bytes secret."


@pytest.mark.parametrize("length", [0, 1, 20, TEXT_BYTES_MAX])
def test_what_is_encrypted_is_decrypted(length: int) -> None:
    cipher = Cipher(b"deployment", "factor")
    text = bytes(range(length))
    assert cipher.decrypt(cipher.encrypt(text, "asha"), "asha") == text


def test_it_is_different_each_time_and_does_not_contain_the_text() -> None:
    cipher = Cipher(b"deployment", "factor")
    made = {cipher.encrypt(TEXT, "asha") for _ in range(20)}
    assert len(made) == 20
    assert not any(TEXT.hex() in each for each in made)


def test_too_long_a_text_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 32"):
        Cipher(b"deployment", "factor").encrypt(bytes(TEXT_BYTES_MAX + 1), "asha")


def test_only_this_deployment_and_this_owner_can_read_it() -> None:
    cipher = Cipher(b"deployment", "factor")
    made = cipher.encrypt(TEXT, "asha")
    for other, owner in (
        (cipher, "bela"),
        (Cipher(b"another", "factor"), "asha"),
        (Cipher(b"deployment", "x"), "asha"),
    ):
        with pytest.raises(NotDecryptable):
            other.decrypt(made, owner)


def test_every_changed_bit_is_noticed() -> None:
    cipher = Cipher(b"deployment", "factor")
    made = bytes.fromhex(cipher.encrypt(TEXT, "asha"))
    for place in range(len(made) * 8):
        changed = bytearray(made)
        changed[place // 8] ^= 1 << place % 8
        with pytest.raises(NotDecryptable):
            cipher.decrypt(changed.hex(), "asha")
    for short in ("", "00", "not hex", made[:-1].hex()):
        with pytest.raises(NotDecryptable):
            cipher.decrypt(short, "asha")


def test_while_the_secret_is_exchanged_both_are_read() -> None:
    old, both, new = Cipher(b"old", "factor"), Cipher(b"new", "factor", b"old"), Cipher(b"new", "factor")
    assert both.decrypt(old.encrypt(TEXT, "asha"), "asha") == TEXT
    assert new.decrypt(both.encrypt(TEXT, "asha"), "asha") == TEXT
    assert both.secret_id == new.secret_id != old.secret_id
