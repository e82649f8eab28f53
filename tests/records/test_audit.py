"""The audit chain: any change, removal or reordering is found, and found where it is."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.keys.hashing import Hasher
from bullion.records.audit import Break, Chain, ChainVerifier, Entry, Head

CHAIN = Chain(Hasher(b"a deployment's secret", "audit"))


def trail(length: int) -> tuple[list[Entry], Head]:
    head: Head | None = None
    entries = []
    for number in range(length):
        entry = Entry("main", 0, number, "somebody", "did", f"thing {number}", None, f'{{"n": {number}}}')
        linked, head = CHAIN.append(head, entry, beginning=number == 0)
        entries.append(linked)
    assert head is not None
    return entries, head


def breaks_of(broker: str, entries: list[Entry], head: Head | None) -> list[Break]:
    verifier = ChainVerifier(CHAIN, broker)
    return [*verifier.check(entries), *verifier.check_head(head)]


def broken_at(entries: list[Entry], head: Head | None) -> list[int]:
    return [each.ordinal for each in breaks_of("main", entries, head)]


def test_an_untouched_trail_is_whole() -> None:
    entries, head = trail(10)
    assert broken_at(entries, head) == []
    assert [entry.ordinal for entry in entries] == list(range(1, 11))


FIELDS = [
    {"at_us": 99},
    {"actor": "somebody else"},
    {"action": "undid"},
    {"subject": "another"},
    {"before": "{}"},
    {"after": None},
    {"after": '{"n": 7777}'},
    {"hash": "0" * 64},
]


@pytest.mark.parametrize("change", FIELDS)
@pytest.mark.parametrize("place", [0, 4, 9])
def test_a_changed_entry_is_found_at_its_place(place: int, change: dict[str, object]) -> None:
    entries, head = trail(10)
    entries[place] = replace(entries[place], **change)  # type: ignore[arg-type]
    assert broken_at(entries, head)[0] == place + 1


@given(st.integers(min_value=0, max_value=9))
def test_a_removed_entry_is_found_at_its_place(place: int) -> None:
    entries, head = trail(10)
    del entries[place]
    assert broken_at(entries, head)[0] == place + 1


@given(st.lists(st.integers(0, 9), min_size=2, max_size=2, unique=True).map(sorted))
def test_two_entries_in_each_others_place_are_found(pair: list[int]) -> None:
    first, second = pair
    entries, head = trail(10)
    entries[first], entries[second] = (
        replace(entries[second], ordinal=first + 1),
        replace(entries[first], ordinal=second + 1),
    )
    assert broken_at(entries, head)[0] == first + 1


def test_an_entry_moved_to_another_broker_is_found() -> None:
    entries, head = trail(3)
    assert breaks_of("other", [replace(entry, broker="other") for entry in entries], head)


def test_removing_the_last_entry_with_a_matching_older_head_forged_is_found() -> None:
    entries, _ = trail(10)
    shorter = entries[:-1]
    forged = Head(9, shorter[-1].hash, "0" * 64)
    assert broken_at(shorter, forged) == [9]


def test_a_missing_head_is_found() -> None:
    entries, _ = trail(3)
    assert broken_at(entries, None) == [3]
    assert broken_at([], None) == [0]


def test_an_entry_appended_without_the_secret_is_found() -> None:
    entries, head = trail(3)
    forger = Chain(Hasher(b"another secret", "audit"))
    linked, forged_head = forger.append(head, replace(entries[-1], subject="forged"))
    assert broken_at([*entries, linked], forged_head)[0] == 4


@pytest.mark.parametrize("kept", [0, 5, 9])
def test_the_next_honest_entry_does_not_mend_a_forged_head(kept: int) -> None:
    entries, _ = trail(10)
    left = entries[:kept]
    forged = Head(kept, left[-1].hash, "forged") if left else None
    for number in range(3):
        linked, forged = CHAIN.append(forged, replace(entries[0], subject=f"honest {number}"))
        left.append(linked)
    assert broken_at(left, forged)


def test_every_break_is_named_and_not_only_the_first() -> None:
    entries, head = trail(10)
    entries[2] = replace(entries[2], actor="x")
    entries[7] = replace(entries[7], actor="y")
    assert broken_at(entries, head) == [3, 8]
