"""The deployment's secret: kept for the next start, never replaced, and one for all who start at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from bullion.secret import deployment_secret
from bullion.settings import WrongSetting


def test_what_the_settings_say_is_taken_and_not_kept(tmp_path: Path) -> None:
    assert deployment_secret("x" * 32, tmp_path, may_create=True) == b"x" * 32
    assert list(tmp_path.iterdir()) == []


def test_a_new_one_is_kept_for_the_next_start(tmp_path: Path) -> None:
    made = deployment_secret(None, tmp_path / "var", may_create=True)
    assert len(made) >= 32
    for may_create in (True, False):
        assert deployment_secret(None, tmp_path / "var", may_create=may_create) == made
    (file,) = (tmp_path / "var").iterdir()
    assert (file.name, file.stat().st_mode & 0o777) == ("secret", 0o600)


def test_two_are_never_the_same(tmp_path: Path) -> None:
    made = {deployment_secret(None, tmp_path / name, may_create=True) for name in "abc"}
    assert len(made) == 3


def test_all_who_start_at_once_have_the_same_secret(tmp_path: Path) -> None:
    """Else one of them writes a store that nobody can read once the other's secret has taken its place."""
    starters = 8
    for number in range(40):
        folder, barrier = tmp_path / str(number), Barrier(starters)

        def begin(folder: Path = folder, barrier: Barrier = barrier) -> bytes:
            barrier.wait()
            return deployment_secret(None, folder, may_create=True)

        with ThreadPoolExecutor(starters) as pool:
            taken = {future.result() for future in [pool.submit(begin) for _ in range(starters)]}
        assert taken == {(folder / "secret").read_bytes()}


@pytest.mark.parametrize("kept", [None, b"", b"short"])
def test_a_lost_one_is_not_replaced(tmp_path: Path, kept: bytes | None) -> None:
    if kept is not None:
        (tmp_path / "secret").write_bytes(kept)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(WrongSetting, match="BULLION_SECRET"):
        deployment_secret(None, tmp_path, may_create=False)
    assert sorted(tmp_path.iterdir()) == before


def test_an_empty_one_is_made_anew_where_nothing_was_made_with_it(tmp_path: Path) -> None:
    (tmp_path / "secret").touch()
    made = deployment_secret(None, tmp_path, may_create=True)
    assert len(made) >= 32
    assert (tmp_path / "secret").read_bytes() == made


def test_a_folder_that_cannot_be_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "a-file").touch()
    with pytest.raises(WrongSetting, match="BULLION_SECRET"):
        deployment_secret(None, tmp_path / "a-file", may_create=True)
