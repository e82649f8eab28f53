"""QuickFIX as the other side of our session, in a process of its own, which its threads end with.

Run as `python quickfix_peer.py acceptor|initiator PORT FOLDER NAME…`. Each name is a session of its own. It
prints a JSON line for every event, and obeys lines such as `send NAME text`, `numbers NAME 7 9`.
"""

import json
import sys
import threading
from pathlib import Path

import quickfix

SETTINGS = """[DEFAULT]
ConnectionType={role}
{where}
FileStorePath={folder}/{role}
StartTime=00:00:00
EndTime=00:00:00
UseDataDictionary=N
HeartBtInt=3
ReconnectInterval=1
BeginString=FIX.4.4
"""


_turn = threading.Lock()


def say(event: str, name: str, **more: object) -> None:
    """Callbacks come from several threads."""
    with _turn:
        print(json.dumps({"event": event, "name": name, **more}), flush=True)


class App(quickfix.Application):  # type: ignore[misc]
    """Says what it sees. Names are our side's CompIDs."""

    def onCreate(self, session_id: object) -> None:  # noqa: N802
        pass

    def onLogon(self, session_id: object) -> None:  # noqa: N802
        say("logon", name_of(session_id))

    def onLogout(self, session_id: object) -> None:  # noqa: N802
        say("logout", name_of(session_id))

    def toAdmin(self, message: object, session_id: object) -> None:  # noqa: N802
        say("to_admin", name_of(session_id), message=str(message))

    def fromAdmin(self, message: object, session_id: object) -> None:  # noqa: N802
        say("from_admin", name_of(session_id), message=str(message))

    def toApp(self, message: object, session_id: object) -> None:  # noqa: N802
        pass

    def fromApp(self, message: object, session_id: object) -> None:  # noqa: N802
        say("from_app", name_of(session_id), message=str(message))


def name_of(session_id: object) -> str:
    return str(session_id).partition("->")[2]


def settings_file(role: str, port: int, folder: Path, names: list[str]) -> Path:
    where = f"SocketAcceptPort={port}\nSocketReuseAddress=Y"
    if role == "initiator":
        where = f"SocketConnectHost=127.0.0.1\nSocketConnectPort={port}"
    text = SETTINGS.format(role=role, where=where, folder=folder)
    for name in names:
        text += f"[SESSION]\nSenderCompID=QUICKFIX\nTargetCompID={name}\n"
    file = folder / f"{role}.cfg"
    file.write_text(text)
    return file


def main(role: str, port: str, folder: str, *names: str) -> None:
    settings = quickfix.SessionSettings(str(settings_file(role, int(port), Path(folder), list(names))))
    store = quickfix.FileStoreFactory(settings)
    kind = quickfix.SocketAcceptor if role == "acceptor" else quickfix.SocketInitiator
    app = App()
    peer = kind(app, store, settings)
    for line in sys.stdin:
        word, *rest = line.split(maxsplit=2)
        if word == "start":
            peer.start()
            say("started", "")
        elif word == "send":
            message = quickfix.Message()
            message.getHeader().setField(35, "B")
            message.setField(148, rest[1].strip())
            quickfix.Session.sendToTarget(message, session_id(rest[0]))
        elif word == "numbers":
            outgoing, incoming = map(int, rest[1].split())
            session = quickfix.Session.lookupSession(session_id(rest[0]))
            session.setNextSenderMsgSeqNum(outgoing)
            session.setNextTargetMsgSeqNum(incoming)
            say("numbers", rest[0])
    peer.stop()


def session_id(name: str) -> object:
    return quickfix.SessionID("FIX.4.4", "QUICKFIX", name)


if __name__ == "__main__":
    main(*sys.argv[1:])
