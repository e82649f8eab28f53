"""A server of this package as a child process: its end is told, and it is started again at the same port."""

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

_PORT = re.compile(r"(\d+)(?:/quotes)?$")
_AGAIN_S = 10.0
"""The time before a new start: long enough to look at what the service does without it."""
_AGAIN = f"It is started again in {_AGAIN_S:.0f} seconds."
_GRACE_S = 5.0


class NotStarted(Exception):
    """The process ended before it listened."""


class Counterparty:
    def __init__(self, name: str, module: str, *options: str, say: Callable[[str], None]) -> None:
        """`name`: what a person calls it."""
        self.name = name
        self.port = 0
        self._module = module
        self._options = options
        self._say = say
        self._stopping = threading.Event()
        self._process = self._start()
        self._watch = threading.Thread(target=self._run, name=module, daemon=True)
        self._watch.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        """Return when the process has ended."""
        self._stopping.set()
        self._close_input()
        self._watch.join(_GRACE_S)
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _start(self) -> subprocess.Popen[str]:
        """Raises NotStarted."""
        command = [sys.executable, "-m", f"{__package__}.child", self._module, *self._options]
        process = subprocess.Popen(  # noqa: S603 - a module of this package
            [*command, "--port", str(self.port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl+C stops the service first, while its counterparties still answer.
        )
        said = "" if process.stdout is None else process.stdout.readline().strip()
        port = _PORT.search(said)
        if port is None:
            raise NotStarted(f"{self.name} could not be started; it ended with {_end(process.wait())}")
        self.port = int(port[1])
        return process

    def _run(self) -> None:
        while not self._stopping.is_set():
            code = self._process.wait()
            if not self._stopping.is_set():
                self._say(f"{self.name} has ended with {_end(code)}. {_AGAIN}")
                self._start_again()

    def _start_again(self) -> None:
        while not self._stopping.wait(_AGAIN_S):
            try:
                self._process = self._start()
            except NotStarted as error:
                self._say(f"{error}. {_AGAIN}")
            else:
                self._say(f"{self.name} runs again, as process {self.pid}.")
                return

    def _close_input(self) -> None:
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()


def _end(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
