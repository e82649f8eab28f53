"""Enums survive values that a later service may send."""

import copy
import pickle

import pytest

from bullion_client import Environment


def test_known_values_are_the_members() -> None:
    assert Environment("test") is Environment.TEST
    assert Environment("production") is Environment.PRODUCTION
    assert Environment.TEST.known
    assert str(Environment.TEST) == "test"


@pytest.mark.parametrize("text", ["rehearsal", "TEST", "UNKNOWN", ""])
def test_an_unknown_value_is_kept(text: str) -> None:
    unknown = Environment(text)
    assert isinstance(unknown, Environment)
    assert (unknown.value, unknown.name, str(unknown), unknown.known) == (text, "UNKNOWN", text, False)
    assert repr(unknown) == f"<Environment.UNKNOWN: {text!r}>"


def test_unknown_values_compare_and_hash_by_their_text() -> None:
    assert Environment("rehearsal") == Environment("rehearsal") == "rehearsal"
    assert Environment("rehearsal") != Environment("other")
    assert {Environment("rehearsal"): 1}[Environment("rehearsal")] == 1


def test_an_unknown_value_does_not_become_a_member() -> None:
    Environment("rehearsal")
    assert list(Environment) == [Environment.TEST, Environment.PRODUCTION]


def test_an_unknown_value_can_be_copied_and_pickled() -> None:
    unknown = Environment("rehearsal")
    pickled = pickle.loads(pickle.dumps(unknown))  # noqa: S301 - made one line ago
    for other in (pickled, copy.deepcopy(unknown)):
        assert isinstance(other, Environment)
        assert (other, other.known) == ("rehearsal", False)


def test_only_text_can_be_a_value() -> None:
    with pytest.raises(ValueError, match="7 is not a valid Environment"):
        Environment(7)  # type: ignore[arg-type]
