"""CPU time of a server is that of all its processes, also of those that have ended."""

import subprocess
import sys
import time

import pytest

from bench.cpu import tree_cpu_ns

# A child that works for a while and ends, after which its parent does nothing.
_PARENT = """
import subprocess, sys, time
subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.3: pass"])
print("ended", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Only Linux tells.")
def test_a_child_counts_while_it_works_and_after_it_ended() -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", _PARENT], stdin=-1, stdout=-1, text=True) as parent:
        during = 0
        while during < 100_000_000:
            during = tree_cpu_ns([parent.pid]) or 0
            time.sleep(0.005)
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ended\n"
        after = tree_cpu_ns([parent.pid])
        parent.communicate()
    assert after is not None
    assert after >= max(during, 300_000_000) - 20_000_000  # Of ended ones the system counts in ticks.


def test_who_is_not_there_used_nothing_that_is_known() -> None:
    assert tree_cpu_ns([2**22 + 1]) is None
    assert tree_cpu_ns([]) is None
