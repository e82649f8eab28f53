"""Which servers a node takes for the primary, by their timelines."""

import pytest

from bullion.store.postgres_timeline import FormerPrimary, Timeline, TimelineFence

ONE, TWO, SIXTEEN = (Timeline(7, number) for number in ("00000001", "00000002", "00000010"))


def test_only_a_newer_timeline_is_another_primary() -> None:
    fence = TimelineFence()
    assert not fence.admit(ONE), "the first that it meets"
    assert not fence.admit(ONE)
    assert fence.admit(TWO)
    assert fence.admit(SIXTEEN)
    assert not fence.admit(SIXTEEN)


@pytest.mark.parametrize("former", [ONE, Timeline(7, "")], ids=["older", "a standby by now"])
def test_an_older_timeline_is_refused_each_time(former: Timeline) -> None:
    fence = TimelineFence()
    fence.admit(TWO)
    for _ in range(2):
        with pytest.raises(FormerPrimary):
            fence.admit(former)
    assert not fence.admit(TWO)


def test_another_cluster_may_count_anew() -> None:
    """As after a move to a new cluster under the same address."""
    fence = TimelineFence()
    fence.admit(SIXTEEN)
    assert fence.admit(Timeline(8, "00000001"))


def test_a_server_that_does_not_tell_is_used() -> None:
    fence = TimelineFence()
    fence.admit(TWO)
    assert not fence.admit(None)
