"""Metrics in Prometheus form: of this process, or of all workers when there are several."""

import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import structlog
from prometheus_client import CollectorRegistry, Histogram, disable_created_metrics, generate_latest, values
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

from .response import Response

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The library's own name for the folder in which workers keep their counts."""

_COUNTED = ("counter", "histogram", "summary")
_ENDED = "0"
"""In place of a process number: the file with what all workers that have ended counted."""
_FILE_BYTES = 1024 * 1024
"""More than the counts of all routes need. A file that grows further is not reserved."""
_LOCK_S = 0.5
_TEXT = ((b"content-type", b"text/plain; version=0.0.4; charset=utf-8"),)

_log = structlog.get_logger("web")


class _ReservedDict(MmapedDict):
    """Counts in a mapped file that has its place on the disk.

    The library makes sparse files. On a full disk, the first write to a page of such a file ends the process
    (SIGBUS).
    """

    def __init__(self, filename: str, read_mode: bool = False) -> None:
        try:
            _reserve(Path(filename))
        except OSError as error:
            # Calls are worth more than their metrics. This worker counts in memory, where nobody reads it.
            _log.error("counts_not_shared", file=filename, reason=error.strerror)
            memory = os.memfd_create("counts")
            super().__init__(f"/proc/self/fd/{memory}", read_mode)  # type: ignore[no-untyped-call]
            os.close(memory)
        else:
            super().__init__(filename, read_mode)  # type: ignore[no-untyped-call]


def _reserve(file: Path) -> None:
    """Make the file, if it is not there. Raises OSError if the disk is full.

    Renamed, so that nobody meets a file without its first bytes.
    """
    if file.exists():
        return
    new = file.with_suffix(".new")
    try:
        new.write_bytes(bytes(_FILE_BYTES))
        new.rename(file)
    except OSError:
        new.unlink(missing_ok=True)
        raise


values.MmapedDict = _ReservedDict  # type: ignore[attr-defined]


class Metrics:
    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # One more series for each counter.
        self.registry = CollectorRegistry()

    def response(self) -> Response:
        folder = os.environ.get(SHARED_FOLDER)
        if not folder:
            return Response(200, generate_latest(self.registry), _TEXT)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        with _locked(folder, fcntl.LOCK_SH):
            return Response(200, generate_latest(registry), _TEXT)


def merge_ended_worker(folder: str, pid: int) -> None:
    """Add what a worker counted to the file of all that have ended, and remove its own files.

    Otherwise the folder would grow with every worker that is replaced. May raise OSError, if the disk is full
    or another process does not release the lock. The files stay then, and are read on.
    """
    with _locked(folder, fcntl.LOCK_EX):
        for kind in _COUNTED:
            own = Path(folder, f"{kind}_{pid}.db")
            if own.exists():
                _add(own, Path(folder, f"{kind}_{_ENDED}.db"))
                own.unlink()
        for gauge in Path(folder).glob(f"gauge_*_{pid}.db"):
            gauge.unlink()


def _add(own: Path, into: Path) -> None:
    _reserve(into)
    total = MmapedDict(str(into))  # type: ignore[no-untyped-call]
    for key, value, timestamp, _ in MmapedDict.read_all_values_from_file(str(own)):  # type: ignore[no-untyped-call]
        before, _ = total.read_value(key)  # type: ignore[no-untyped-call]
        total.write_value(key, before + value, timestamp)  # type: ignore[no-untyped-call]
    total.close()  # type: ignore[no-untyped-call]


@contextmanager
def _locked(folder: str, kind: int) -> Iterator[None]:
    """Whoever reads all files must not meet one whose counts are being moved to another.

    May raise BlockingIOError: one that hangs while it holds the lock must not keep the others from work.
    """
    give_up_at = time.monotonic() + _LOCK_S
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        while True:
            try:
                fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > give_up_at:
                    raise
                time.sleep(_LOCK_S / 100)
        yield
    finally:
        os.close(descriptor)


def add_counts(histogram: Histogram, total: float, by_bucket: Sequence[int]) -> None:
    """Add many observations to a histogram at once: their sum, and how many fall into each bucket.

    The library has no function for it.
    """
    histogram._sum.inc(total)  # noqa: SLF001
    for bucket, number in zip(histogram._buckets, by_bucket, strict=True):  # noqa: SLF001
        if number:
            bucket.inc(number)
