"""The store's floor on PostgreSQL: pgbench, which writes the rows of an order, one order per transaction.

It does what a plain booking does, in C and without HTTP: lock and read the book, look the key up, insert the
order, move the book, commit.
"""

import re
import resource
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.servers import find

from .cpu import tree_cpu_ns
from .faults import CallFailed
from .load import Outcome
from .rows import RowSizes

CLIENTS = (2, 4, 8)
"""More of them make PostgreSQL slower, not faster, and fewer leave it waiting."""
BOOKS = 32

# No two clients meet on a book: waiting for locks would make the floor lower than it has to be. The id grows,
# as ours do, and the key lies anywhere in its index.
_SCRIPT = """\
\\set book 2 * (random(0, {books_each} - 1) * {clients} + :client_id + 1)
\\set number :number + 1
\\set key random(1, 9000000000000000000)
BEGIN;
SELECT order_count + 1 AS ordinal, gold_net_e4, gold_limit_e4, version FROM books
    WHERE id = :book FOR UPDATE \\gset
SELECT id FROM orders
    WHERE book_id = :book AND source = 'api' AND idempotency_key = rpad((:key)::text, 36, 'x');
INSERT INTO orders (
    book_id, ordinal, id, source, idempotency_key, symbol_code, trade_type, quantity_e4, client_order_id,
    metal, price_paise, total_paise, status, key_id, request_id, created_at_us, price_anatomy
) VALUES (
    :book, :ordinal, rpad((:number)::text, 36, 'x'), 'api', rpad((:key)::text, 36, 'x'), 'GOLD', 'buy', 10000,
    'ref-0001', 'gold', 15050900, 1505090, 'filled', repeat('k', {sizes.key_id}),
    rpad((:number)::text, {sizes.request_id}, 'x'), :number, repeat('a', {sizes.price_anatomy})
);
UPDATE books
    SET gold_net_e4 = gold_net_e4 + 10000, order_count = :ordinal, last_order_at_us = :number,
        version = version + 1
    WHERE id = :book;
COMMIT;
"""
_RATE = re.compile(r"tps = ([0-9.]+) \(without initial connection time\)")
_DONE = re.compile(r"number of transactions actually processed: ([0-9]+)")
_TIMEOUT_S = 120
_BACKENDS_END_S = 0.05
"""Until the server has waited for the processes that it had for pgbench, and so counts their CPU time."""


@dataclass(frozen=True, slots=True)
class Pgbench:
    """A store of its own, made with `BOOKS` accounts, where nothing else runs."""

    url: str
    sizes: RowSizes
    server_pid: int | None = None
    """Of PostgreSQL's first process: whose CPU time counts, with that of its children."""

    def measure(self, clients: int, *, seconds: int | None = None, transactions: int = 100) -> Outcome:
        """For so long, or so many transactions of each client."""
        extent = ["-t", str(transactions)] if seconds is None else ["-T", str(seconds)]
        server_ns, own_ns = self._server_ns(), _waited_for_ns()
        said = self._run(clients, extent)
        own_ns = _waited_for_ns() - own_ns
        time.sleep(_BACKENDS_END_S)
        server_now_ns = self._server_ns()
        rate, done = _RATE.search(said), _DONE.search(said)
        if rate is None or done is None or int(done[1]) == 0:
            raise CallFailed(f"pgbench did not say how fast it was:\n{said}")
        whole_ns = None if server_ns is None or server_now_ns is None else server_now_ns - server_ns + own_ns
        return Outcome(requests=int(done[1]), seconds=int(done[1]) / float(rate[1]), whole_cpu_ns=whole_ns)

    def _server_ns(self) -> int | None:
        return None if self.server_pid is None else tree_cpu_ns([self.server_pid])

    def _run(self, clients: int, extent: list[str]) -> str:
        address = urlsplit(self.url)
        script = _SCRIPT.format(clients=clients, books_each=BOOKS // clients, sizes=self.sizes)
        with tempfile.TemporaryDirectory(prefix="bullion-bench-") as folder:
            path = Path(folder) / "order.sql"
            path.write_text(script, "utf-8")
            done = subprocess.run(
                [
                    *(find("pgbench"), "-n", "-M", "prepared", "-c", str(clients), "-j", "1", *extent),
                    *("-D", f"number={time.time_ns() // 1000}", "-f", str(path)),
                    *("-h", str(address.hostname), "-p", str(address.port), "-U", str(address.username)),
                    address.path.lstrip("/"),
                ],
                capture_output=True,
                text=True,
                timeout=_TIMEOUT_S,
            )
        if done.returncode != 0 or "aborted" in done.stderr:
            raise CallFailed(f"pgbench failed:\n{done.stderr.strip()}")
        return done.stdout


def _waited_for_ns() -> int:
    """CPU time of all processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((used.ru_utime + used.ru_stime) * 1e9)
