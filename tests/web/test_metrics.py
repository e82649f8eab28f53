"""The files in which workers count: those of a worker that has ended are merged, and nothing is lost."""

import fcntl
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest, values
from prometheus_client.mmap_dict import MmapedDict, mmap_key
from prometheus_client.multiprocess import MultiProcessCollector
from structlog.testing import capture_logs

from bullion.web import metrics
from bullion.web.metrics import SHARED_FOLDER, merge_ended_worker


def _count(folder: Path, pid: int, value: float, kind: str = "counter") -> None:
    file = MmapedDict(str(folder / f"{kind}_{pid}.db"))  # type: ignore[no-untyped-call]
    key = mmap_key(f"a_{kind[:5]}", f"a_{kind[:5]}", ["route"], ["/me"], "help")
    file.write_value(key, value, 1.0)  # type: ignore[no-untyped-call]
    file.close()  # type: ignore[no-untyped-call]


def _shown(folder: Path) -> bytes:
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(folder))  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def test_counts_of_workers_that_ended_are_kept_in_one_file(tmp_path: Path) -> None:
    for pid in range(11, 16):
        _count(tmp_path, pid, pid)
        _count(tmp_path, pid, pid, "gauge_mostrecent")
    before = [line for line in _shown(tmp_path).splitlines() if b"a_count" in line]
    for pid in range(11, 15):
        merge_ended_worker(str(tmp_path), pid)
        assert [line for line in _shown(tmp_path).splitlines() if b"a_count" in line] == before
    merge_ended_worker(str(tmp_path), 14)
    assert b"65.0" in before[-1]
    left = {file.name for file in tmp_path.iterdir()}
    assert left == {"counter_0.db", "counter_15.db", "gauge_mostrecent_15.db"}


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the values of the library, of a worker with this folder."""
    monkeypatch.setenv(SHARED_FOLDER, str(tmp_path))
    return values.MultiProcessValue(lambda: 11)  # type: ignore[no-untyped-call]


@contextmanager
def full_disk() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_counts_have_their_place_on_the_disk(tmp_path: Path, worker: Any) -> None:
    """A write to a sparse file on a full disk would end the process."""
    for kind, mode in (("counter", ""), ("histogram", ""), ("gauge", "livesum")):
        worker(kind, f"a_{kind}", f"a_{kind}", ["route"], ["/me"], "help", mode).inc(3)
    _all_reserved(tmp_path, 3)
    merge_ended_worker(str(tmp_path), 11)
    _all_reserved(tmp_path, 2)
    assert b'a_counter{route="/me"} 3.0' in _shown(tmp_path)


def _all_reserved(folder: Path, count: int) -> None:
    files = [file.stat() for file in folder.iterdir()]
    assert len(files) == count
    assert all(file.st_blocks * 512 >= file.st_size for file in files)


def test_counts_stay_where_they_are_while_the_disk_is_full(tmp_path: Path) -> None:
    _count(tmp_path, 11, 3)
    before = _shown(tmp_path)
    with full_disk(), pytest.raises(OSError, match="too large"):
        merge_ended_worker(str(tmp_path), 11)
    assert [file.name for file in tmp_path.iterdir()] == ["counter_11.db"]
    assert _shown(tmp_path) == before


def test_a_worker_without_a_place_on_the_disk_counts_in_memory(tmp_path: Path, worker: Any) -> None:
    with capture_logs() as logs, full_disk():
        value = worker("counter", "a_counter", "a_counter", ["route"], ["/me"], "help")
        for _ in range(2):
            value.inc(3)
    assert value.get() == 6
    assert [entry["event"] for entry in logs] == ["counts_not_shared"]
    assert not any(tmp_path.iterdir())


def test_one_that_hangs_while_it_reads_keeps_nobody_waiting(tmp_path: Path) -> None:
    _count(tmp_path, 11, 3)
    before = _shown(tmp_path)
    raised: list[BaseException] = []

    def merge() -> None:
        try:
            merge_ended_worker(str(tmp_path), 11)
        except BlockingIOError as error:
            raised.append(error)

    merging = Thread(target=merge, daemon=True)
    with metrics._locked(str(tmp_path), fcntl.LOCK_SH):
        merging.start()
        merging.join(10)
        assert len(raised) == 1
    assert _shown(tmp_path) == before
    merge_ended_worker(str(tmp_path), 11)
    assert [file.name for file in tmp_path.iterdir()] == ["counter_0.db"]
