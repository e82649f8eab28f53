"""The files in which workers count: those of a worker that has ended are merged, and nothing is lost."""

from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.mmap_dict import MmapedDict, mmap_key
from prometheus_client.multiprocess import MultiProcessCollector

from bullion.web.metrics import merge_ended_worker


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
