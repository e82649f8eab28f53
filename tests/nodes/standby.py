"""A PostgreSQL server with a standby that follows it, and takes over when it is told to."""

import os
import subprocess
from dataclasses import dataclass

from tests.support.node import until
from tests.support.servers import Postgres, _as_nobody, find

_COPY = ("-R", "-X", "stream", "-c", "fast", "--no-sync")


def standby_of(primary: Postgres) -> Postgres:
    standby = Postgres()
    prefix, uid = _as_nobody()
    if uid is not None:
        os.chown(standby.folder, uid, -1)
    source = ("-h", "127.0.0.1", "-p", str(primary.port), "-U", "bullion")
    subprocess.run(
        [*prefix, find("pg_basebackup"), *source, "-D", f"{standby.folder}/data", *_COPY],
        check=True,
        capture_output=True,
        cwd=standby.folder,
    )
    return standby.start()


@dataclass
class Pair:
    primary: Postgres
    standby: Postgres

    @classmethod
    def make(cls, *, synchronous: bool) -> "Pair":
        primary = Postgres().make()
        # Or a checkpoint removes what a standby still has to read, which then stays behind for ever.
        primary.sql("ALTER SYSTEM SET wal_keep_size = '256MB'")
        primary.sql("SELECT pg_reload_conf()")
        pair = cls(primary, standby_of(primary))
        if synchronous:
            pair.primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
            pair.primary.sql("SELECT pg_reload_conf()")
        state = "sync" if synchronous else "async"
        until(lambda: pair.primary.sql("SELECT sync_state FROM pg_stat_replication") == state, within_s=20)
        return pair

    def new_database(self) -> str:
        """An address that names both servers, the primary first."""
        alone = self.primary.new_database()
        return alone.replace("/test", f",127.0.0.1:{self.standby.port}/test")

    def catch_up(self) -> None:
        """Wait until the standby has replayed all that the primary has written by now."""
        written = self.primary.sql("SELECT pg_current_wal_lsn()")
        replayed = f"SELECT pg_last_wal_replay_lsn() >= '{written}'"
        until(lambda: self.standby.sql(replayed) == "t", within_s=30)

    def promote(self) -> None:
        self.standby.sql("SELECT pg_promote()")

    def remove(self) -> None:
        for server in (self.primary, self.standby):
            server.remove()
