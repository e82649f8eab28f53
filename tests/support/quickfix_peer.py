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
DICTIONARY = Path(sys.prefix) / "share" / "quickfix" / "FIX44.xml"
"""As the package installs it."""

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
        if "\x0135=V\x01" in str(message) and "\x01263=1\x01" in str(message):
            answer_subscription(message, session_id)


def answer_subscription(request: object, session_id: object) -> None:
    """A snapshot, which has no entry ids in FIX 4.4, and a change of its bid. The symbol NONE is refused."""
    fields = dict(pair.split("=", 1) for pair in str(request).rstrip("\x01").split("\x01"))
    request_id, symbol = fields["262"], fields["55"]
    if symbol == "NONE":
        refusal = new_message("Y", request_id)
        refusal.setField(281, "0")
        refusal.setField(58, "Unknown symbol")
        quickfix.Session.sendToTarget(refusal, session_id)
        return
    snapshot = new_message("W", request_id)
    snapshot.setField(55, symbol)
    for kind, price in (("0", "4000.1"), ("1", "4000.5")):
        snapshot.addGroup(entry(269, {269: kind, 270: price}))
    quickfix.Session.sendToTarget(snapshot, session_id)
    change = new_message("X", request_id)
    change.addGroup(entry(279, {279: "1", 269: "0", 278: "E0", 55: symbol, 270: "4000.3"}))
    quickfix.Session.sendToTarget(change, session_id)


def new_message(kind: str, request_id: str) -> quickfix.Message:
    message = quickfix.Message()
    message.getHeader().setField(35, kind)
    message.setField(262, request_id)
    return message


def entry(first: int, fields: dict[int, str]) -> quickfix.Group:
    group = quickfix.Group(268, first)
    for tag, value in fields.items():
        group.setField(tag, value)
    return group


def name_of(session_id: object) -> str:
    return str(session_id).partition("->")[2]


def settings_file(role: str, port: int, folder: Path, names: list[str]) -> Path:
    where = f"SocketAcceptPort={port}\nSocketReuseAddress=Y"
    if role == "initiator":
        where = f"SocketConnectHost=127.0.0.1\nSocketConnectPort={port}"
    text = SETTINGS.format(role=role, where=where, folder=folder)
    for name in names:
        text += f"[SESSION]\nSenderCompID=QUICKFIX\nTargetCompID={name}\n"
        if name.startswith("QUOTES"):  # Without a dictionary, QuickFIX knows no groups.
            text += f"UseDataDictionary=Y\nDataDictionary={DICTIONARY}\n"
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
