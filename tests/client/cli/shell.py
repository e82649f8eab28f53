"""`bullion-client` as people and scripts meet it: in this process where that is the same, else in its own."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bullion_client import Intent, Journal
from bullion_client.cli.program import run

_PROGRAM = (sys.executable, "-m", "bullion_client.cli")


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """What it said of its failure with --json."""
        assert self.out == "" or json.loads(self.out) is not None
        return json.loads(self.err)["error"]

    @property
    def rows(self) -> list[list[str]]:
        """The cells of a table, by the gaps between them."""
        return [re.split(r"\s{2,}", line.strip()) for line in self.out.splitlines()]

    @property
    def facts(self) -> dict[str, str]:
        """What a table of names says of each."""
        return {row[0]: row[1] for row in self.rows}


@dataclass
class Shell:
    """Address, key and a home of their own."""

    base_url: str
    key: str
    folder: Path
    _monkeypatch: pytest.MonkeyPatch
    _capsys: pytest.CaptureFixture[str]

    def settings(self, **more: str) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("BULLION_", "XDG_"))
        }
        given = {
            "BULLION_BASE_URL": self.base_url,
            "BULLION_API_KEY": self.key,
            "XDG_STATE_HOME": str(self.folder / "state"),
            "SSL_CERT_FILE": str(self.folder / "certificate.pem"),
            "TZ": "Asia/Kolkata",
            "COLUMNS": "80",
        }
        return {name: value for name, value in (kept | given | more).items() if value}

    def run(self, *words: str, **more: str) -> Done:
        """Without starting Python anew, and without a terminal. A setting of '' is not set."""
        with self._monkeypatch.context() as patch:
            settings = self.settings(**more)
            for name in os.environ.keys() - settings.keys():
                patch.delenv(name)
            for name, value in settings.items():
                patch.setenv(name, value)
            time.tzset()
            self._capsys.readouterr()
            code = run(words)
        time.tzset()
        out, err = self._capsys.readouterr()
        assert self.key.rpartition(".")[2] not in out + err, "the key's secret was shown"
        assert "\x1b" not in out + err, "an escape code was sent where there is no terminal"
        return Done(code, out, err)

    def done(self, *words: str, **more: str) -> Done:
        """The same, for what has to go well."""
        done = self.run(*words, **more)
        assert (done.code, done.err) == (0, ""), (done.out, done.err)
        return done

    def failed(self, code: int, *words: str, **more: str) -> Done:
        """The same, for what has to fail with that exit code."""
        done = self.run(*words, **more)
        assert done.code == code, (done.code, done.out, done.err)
        assert done.err
        return done

    @contextmanager
    def process(self, *words: str, run_by: str = "", **more: str) -> Iterator[subprocess.Popen[str]]:
        """The command as a process, with pipes; it does not outlive the test. `run_by` says how a
        shell runs it, as "$@"."""
        through = ("/bin/sh", "-c", run_by, "sh") if run_by else ()
        process = subprocess.Popen(
            [*through, *_PROGRAM, *words],
            env=self.settings(**more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            try:
                yield process
            finally:
                process.kill()

    def terminal(self, *words: str, columns: int = 80, **more: str) -> "Terminal":
        return Terminal([*_PROGRAM, *words], self.settings(COLUMNS="", TERM="xterm", **more), columns)

    def journals(self) -> list[Path]:
        return sorted((self.folder / "state").rglob("*.jsonl"))

    def unsettled(self) -> list[Intent]:
        return [intent for path in self.journals() for intent in Journal(path).unsettled()]


class Terminal:
    """A command at a terminal of that width; everything that appears on the screen is kept."""

    def __init__(self, command: list[str], settings: dict[str, str], columns: int) -> None:
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, columns))
        self._process = subprocess.Popen(
            command, env=settings, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self.screen = ""

    def sees(self, words: str) -> "Terminal":
        """Wait until these words are on the screen."""
        give_up_at = time.monotonic() + 30
        while words not in self.screen:
            assert time.monotonic() < give_up_at, f"{words!r} did not appear:\n{self.screen}"
            assert self._read() or words in self.screen, f"{words!r} did not appear:\n{self.screen}"
        return self

    def types(self, words: str) -> "Terminal":
        os.write(self._ours, words.encode())
        return self

    def interrupt(self) -> "Terminal":
        """As Ctrl+C does."""
        self._process.send_signal(signal.SIGINT)
        return self

    def ends(self) -> int:
        """Its exit code, once all is on the screen."""
        while self._read():
            pass
        os.close(self._ours)
        return self._process.wait(timeout=30)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._ours], [], [], 30)
        assert ready, f"nothing more appeared:\n{self.screen}"
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # What a terminal says when nobody is at its other end any more.
            return False
        self.screen += data.decode()
        return bool(data)
