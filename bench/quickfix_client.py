"""QuickFIX from Python: its session, and an application that reads the two reports of each order.

`python -m bench.quickfix_client PORT FOLDER` logs on to a venue and makes as many deals as each line of its
input says, one after the other. It prints the CPU time of one with all threads, and how long each took, in
microseconds. It keeps numbers in memory, and knows nothing of orders.
"""

import sys
import threading
import time
from pathlib import Path
from uuid import uuid4

import quickfix

_PATIENCE_S = 30.0
_FIELDS = (11, 37, 17, 150, 39, 38, 14, 6, 32, 31)
_FILLED = "2"
_SETTINGS = """[DEFAULT]
ConnectionType=initiator
SocketConnectHost=127.0.0.1
SocketConnectPort={port}
SocketNodelay=Y
StartTime=00:00:00
EndTime=00:00:00
UseDataDictionary=N
HeartBtInt=30
ReconnectInterval=1
ResetOnLogon=Y
BeginString=FIX.4.4
[SESSION]
SenderCompID=US
TargetCompID=THEM
"""
_SESSION = quickfix.SessionID("FIX.4.4", "US", "THEM")


class App(quickfix.Application):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.logged_on = threading.Event()
        self.filled = threading.Semaphore(0)

    def onCreate(self, session_id: object) -> None: ...  # noqa: N802

    def onLogon(self, session_id: object) -> None:  # noqa: N802, ARG002
        self.logged_on.set()

    def onLogout(self, session_id: object) -> None: ...  # noqa: N802

    def toAdmin(self, message: object, session_id: object) -> None: ...  # noqa: N802

    def fromAdmin(self, message: object, session_id: object) -> None: ...  # noqa: N802

    def toApp(self, message: object, session_id: object) -> None: ...  # noqa: N802

    def fromApp(self, message: quickfix.Message, session_id: object) -> None:  # noqa: N802, ARG002
        fields = {tag: message.getField(tag) for tag in _FIELDS if message.isSetField(tag)}
        if fields[39] == _FILLED:
            self.filled.release()

    def deal(self) -> float:
        """How long it took."""
        began_ns = time.perf_counter_ns()
        order = quickfix.Message()
        order.getHeader().setField(35, "D")
        at = time.strftime("%Y%m%d-%H:%M:%S", time.gmtime())
        terms = {11: str(uuid4()), 55: "XAU/g", 54: "1", 60: at, 38: "1", 40: "1", 59: "3"}
        for tag, value in terms.items():
            order.setField(tag, value)
        quickfix.Session.sendToTarget(order, _SESSION)
        assert self.filled.acquire(timeout=_PATIENCE_S), "an order was not filled"
        return (time.perf_counter_ns() - began_ns) / 1000


def main(port: str, folder: str) -> None:
    file = Path(folder) / "quickfix.cfg"
    file.write_text(_SETTINGS.format(port=port))
    settings, app = quickfix.SessionSettings(str(file)), App()
    initiator = quickfix.SocketInitiator(app, quickfix.MemoryStoreFactory(), settings)
    initiator.start()
    assert app.logged_on.wait(_PATIENCE_S), "QuickFIX is not logged on"
    for line in sys.stdin:
        began_ns = time.process_time_ns()
        took_us = [app.deal() for _ in range(int(line))]
        cpu_us = (time.process_time_ns() - began_ns) / 1000 / len(took_us)
        print(cpu_us, *took_us, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
