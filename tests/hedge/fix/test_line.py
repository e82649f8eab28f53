"""A line that is kept up, over real sockets, with an acceptor on our own session as the venue."""

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import msgspec
import pytest

from bullion.hedge.fix import reconnect_pause
from bullion.hedge.fix.codec import Message
from bullion.hedge.fix.connection import Chunk
from bullion.hedge.fix.lease import NotHolder
from bullion.hedge.fix.line import FixLine
from bullion.hedge.fix.line_ports import KeptNumbers, SoleHolder
from bullion.hedge.fix.message_log import MessageLog
from bullion.hedge.fix.pace import Rate
from bullion.hedge.fix.profile import KEEPING, RESETTING, Line, Profile, Tls
from bullion.hedge.fix.schedule import Schedule, Timetable
from bullion.hedge.fix.session_effects import Close, CloseKind, LineState, NotLoggedOn, Numbers
from tests.support.fix_peer import FixPeer, clock_us, until
from tests.support.servers import find

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconnect_pause, "_PAUSE_S", 0.01)


class Owner:
    def __init__(self) -> None:
        self.logons: list[int] = []
        self.received_texts: list[str | None] = []
        self.headlines: list[str | None] = []
        self.repeated = 0
        self.incoming = 0
        self.losses: list[tuple[int, str]] = []
        self.line: FixLine | None = None

    def logged_on(self, connection_no: int, logon: Message) -> None:
        self.logons.append(connection_no)
        assert self.line is not None
        self.line.recovered(connection_no)

    def received(self, connection_no: int, chunk: Chunk) -> None:
        self.received_texts += [message.get(58) for message in chunk.messages]
        self.headlines += [message.get(148) for message in chunk.messages]
        self.repeated += sum(message.get(43) == "Y" for message in chunk.messages)
        self.incoming = chunk.incoming

    def lost(self, connection_no: int, reason: str) -> None:
        self.losses.append((connection_no, reason))


class Kept:
    """Kept numbers in memory, as the store has them."""

    def __init__(self, numbers: Numbers | None = None) -> None:
        self.row = None if numbers is None else KeptNumbers(numbers.outgoing, numbers.incoming, clock_us())
        self.fails = False

    async def numbers(self, line: str) -> KeptNumbers | None:
        return self.row

    async def begin_numbers(self, line: str, holder: str, numbers: Numbers) -> None:
        self.row = KeptNumbers(numbers.outgoing, numbers.incoming, clock_us())

    async def restart_incoming(self, line: str, holder: str) -> None:
        assert self.row is not None
        self.row = msgspec.structs.replace(self.row, incoming=1)

    async def reserve_numbers(self, line: str, holder: str, below: int) -> None:
        if self.fails:
            raise NotHolder("gone")
        assert self.row is not None
        self.row = msgspec.structs.replace(self.row, outgoing=max(below, self.row.outgoing))


class Holder(SoleHolder):
    lost = False

    def held(self) -> bool:
        return not self.lost


def logged(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.glob("gold-*.log"))


class Stage:
    """Lines and one peer, all of which end with the test."""

    def __init__(self) -> None:
        self.peer = FixPeer()
        self.owner = Owner()
        self.tasks: list[asyncio.Task[None]] = []

    def line(self, profile: Profile = RESETTING, kept: Kept | None = None, **changes: object) -> FixLine:
        options = {name: changes.pop(name) for name in ("holder", "log") if name in changes}
        plan = self.plan(profile, **changes)
        chance = Random(1)  # noqa: S311
        line = FixLine(plan, self.owner, clock_us, kept=kept, chance=chance, password="pw", **options)  # type: ignore[arg-type]
        self.owner.line = line
        self.tasks.append(asyncio.ensure_future(line.run()))
        return line

    def plan(self, profile: Profile = RESETTING, **changes: object) -> Line:
        plan = Line(
            name="gold", broker="main", host="127.0.0.1", port=self.peer.port, sender="US", target="THEM",
            profile=profile, tls=None,
        )  # fmt: skip
        return msgspec.structs.replace(plan, **changes)

    async def up(self, line: FixLine, logons: int = 1) -> None:
        await until(lambda: len(self.owner.logons) >= logons and line.state is LineState.UP)

    async def end(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.peer.stop()


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    await stage.peer.start()
    yield stage
    await stage.end()


async def test_it_logs_on_and_messages_go_both_ways(stage: Stage, tmp_path: Path) -> None:
    log = MessageLog(tmp_path, "gold", clock_us)
    line = stage.line(log=log)
    await stage.up(line)
    assert [stage.peer.logons[0].get(tag) for tag in (34, 108, 141, 554)] == ["1", "30", "Y", "pw"]
    assert await line.send([(35, "D"), (11, "one")]) == 2
    await until(lambda: stage.peer.received)
    assert stage.peer.received[0].get(11) == "one"
    stage.peer.send((35, "8"), (58, "filled"))
    await until(lambda: stage.owner.received_texts)
    assert (stage.owner.received_texts, stage.owner.incoming) == (["filled"], 3)
    status = line.status()
    assert (status.state, status.numbers, status.logons) == (LineState.UP, Numbers(3, 3), 1)
    assert min(status.in_us, status.out_us) > 0
    log.flush()
    text = logged(tmp_path)
    assert [each.split()[1] for each in text.splitlines()] == [b">", b"<", b">", b"<"]
    assert b"pw" not in text


async def test_a_lost_line_comes_back_as_another_connection(stage: Stage) -> None:
    line = stage.line()
    await stage.up(line)
    stage.peer.connection.abort("cut")
    await stage.up(line, 2)
    assert stage.owner.logons == [1, 2]
    assert [number for number, _ in stage.owner.losses] == [1]
    with pytest.raises(NotLoggedOn):
        await line.send([(35, "D"), (11, "old")], connection_no=1)
    await line.send([(35, "D"), (11, "new")], connection_no=2)
    await until(lambda: stage.peer.received)
    assert [each.get(11) for each in stage.peer.received] == ["new"]


async def test_it_waits_for_a_venue_that_is_not_there(stage: Stage) -> None:
    await stage.peer.stop()
    line = stage.line()
    await until(lambda: line.status().reason)
    assert stage.owner.losses == []
    await stage.peer.start()
    await stage.up(line)


async def test_a_message_of_two_chunks_and_a_garbled_one(stage: Stage) -> None:
    line = stage.line()
    await stage.up(line)
    transport = stage.peer.connection._transport
    assert transport is not None
    transport.write(b"8=FIX.4.4\x019=5\x0135=0\x0110=000\x01")
    stage.peer.send((35, "8"), (58, "filled"))
    await until(lambda: stage.owner.received_texts)
    assert line.status().garbled == 1


# --- Numbers that are kept ----------------------------------------------------------------------------


async def test_kept_numbers_go_on_after_a_crash(stage: Stage) -> None:
    kept = Kept()
    line = stage.line(KEEPING, kept)
    await stage.up(line)
    assert stage.peer.logons[0].get(141) is None
    await line.send([(35, "D"), (11, "one")])
    await until(lambda: stage.peer.received)
    assert kept.row is not None
    assert (kept.row.outgoing, kept.row.incoming) == (102, 1)
    # Nothing was stored of what was received, and 99 numbers were reserved in vain.
    stage.tasks.pop().cancel()
    await until(lambda: stage.peer.closes)
    line = stage.line(KEEPING, kept)
    await stage.up(line, 2)
    await line.send([(35, "D"), (11, "two")])
    await until(lambda: len(stage.peer.received) == 2)
    assert stage.peer.received[0].get(34) == "2"
    await until(lambda: line.status().numbers.incoming == stage.peer.numbers.outgoing)
    assert line.status().numbers.outgoing == stage.peer.numbers.incoming
    assert len(stage.peer.logons) == 2


async def test_kept_numbers_have_no_gap_while_one_process_has_the_line(stage: Stage) -> None:
    line = stage.line(KEEPING, Kept())
    await stage.up(line)
    await line.send([(35, "D"), (11, "one")])
    await until(lambda: stage.peer.received)
    stage.peer.connection.abort("cut")
    await stage.up(line, 2)
    assert [each.get(34) for each in stage.peer.logons] == ["1", "3"]


async def test_numbers_are_skipped_if_another_process_had_the_line(stage: Stage) -> None:
    holder = Holder()
    line = stage.line(KEEPING, Kept(), holder=holder)
    await stage.up(line)
    await holder.begin_connection()
    stage.peer.connection.abort("cut")
    await stage.up(line, 2)
    assert [each.get(34) for each in stage.peer.logons] == ["1", "102"]


async def test_what_an_owner_sends_at_once_goes_behind_what_the_session_sends(stage: Stage) -> None:
    """The peer finds a gap in our logon: its ResendRequest has its number before the greeting gets one."""
    stage.peer.greeting = "hello"
    line = stage.line(KEEPING, Kept(Numbers(50, 1)))
    await until(lambda: stage.owner.received_texts == ["hello"])
    assert line.status().gaps == 0


async def test_a_reset_is_not_forgotten_while_the_venue_is_away(stage: Stage) -> None:
    line = stage.line(msgspec.structs.replace(KEEPING, may_reset=False), Kept(Numbers(500, 400)))
    await until(lambda: line.alarm)
    await stage.peer.stop()
    line.reset()
    await until(lambda: "refused" in line.status().reason)
    await stage.peer.start()
    await stage.up(line)
    assert [each.get(141) for each in stage.peer.logons] == [None, "Y"]


async def test_a_venue_that_lost_its_numbers_gets_one_logon_that_resets(stage: Stage) -> None:
    kept = Kept(Numbers(500, 400))
    line = stage.line(KEEPING, kept)
    await stage.up(line)
    assert [each.get(141) for each in stage.peer.logons] == [None, "Y"]
    assert kept.row is not None
    assert kept.row.incoming == 1
    assert line.alarm == ""


async def test_a_venue_that_hangs_up_twice_gets_one_logon_that_resets(stage: Stage) -> None:
    stage.peer.hang_ups = 2
    line = stage.line(KEEPING, Kept(Numbers(500, 400)))
    await stage.up(line)
    assert [each.get(141) for each in stage.peer.logons] == [None, None, "Y"]


async def test_a_logon_that_resets_and_is_lost_is_sent_again_before_the_desk_decides(stage: Stage) -> None:
    stage.peer.hang_ups = 3
    line = stage.line(KEEPING, Kept(Numbers(500, 400)))
    await stage.up(line)
    assert [each.get(141) for each in stage.peer.logons] == [None, None, "Y", "Y"]
    stage.peer.hang_ups = 4
    stage.peer.connection.abort("a test")
    await until(lambda: line.alarm)
    assert [each.get(141) for each in stage.peer.logons[4:]] == [None, None, "Y", "Y"]


async def test_where_no_reset_is_allowed_the_desk_decides(stage: Stage) -> None:
    line = stage.line(msgspec.structs.replace(KEEPING, may_reset=False), Kept(Numbers(500, 400)))
    await until(lambda: line.alarm)
    assert line.state is LineState.WAITING
    assert len(stage.peer.logons) == 1
    line.reset()
    await stage.up(line)
    assert [each.get(141) for each in stage.peer.logons] == [None, "Y"]
    assert line.status().alarm == ""


async def test_a_reset_that_is_refused_is_not_tried_for_ever(stage: Stage) -> None:
    stage.peer.refusal = "MsgSeqNum too low, expecting 7"
    line = stage.line(KEEPING, Kept(Numbers(500, 400)))
    await until(lambda: line.alarm)
    assert [each.get(141) for each in stage.peer.logons] == [None, "Y"]
    assert "too low" in line.alarm


async def test_a_number_that_was_not_stored_is_not_used(stage: Stage) -> None:
    kept = Kept(Numbers(500, 1))
    kept.fails = True
    line = stage.line(KEEPING, kept)
    await until(lambda: "could not be stored" in line.status().reason)
    assert stage.peer.logons == []


async def test_numbers_of_an_earlier_window_are_not_continued(stage: Stage) -> None:
    kept = Kept(Numbers(500, 400))
    assert kept.row is not None
    kept.row = msgspec.structs.replace(kept.row, stored_us=clock_us() - 8 * 86_400 * 1_000_000)
    line = stage.line(KEEPING, kept, timetable=Timetable(hours=("mon-sun 00:00-24:00",)))
    await stage.up(line)
    assert [stage.peer.logons[0].get(tag) for tag in (34, 141)] == ["1", None]


def test_kept_numbers_need_a_store() -> None:
    plan = Line(name="x", broker="main", host="h", port=1, sender="US", target="THEM", profile=KEEPING)
    with pytest.raises(ValueError, match="keeps numbers"):
        FixLine(plan, Owner(), clock_us)


# --- Lease, hours, desk -------------------------------------------------------------------------------


async def test_nothing_is_written_without_the_lease(stage: Stage) -> None:
    holder = Holder()
    line = stage.line(holder=holder)
    await stage.up(line)
    holder.lost = True
    with pytest.raises(NotLoggedOn):
        await line.send([(35, "D"), (11, "one")])
    await until(lambda: stage.peer.closes)
    assert stage.peer.received == []
    assert "lease" in line.status().reason
    await until(lambda: line.state is LineState.RESTING)
    holder.lost = False
    await stage.up(line, 2)


async def test_a_quiet_line_is_aborted_when_its_lease_is_lost(stage: Stage) -> None:
    holder = Holder()
    line = stage.line(holder=holder)
    await stage.up(line)
    holder.lost = True
    await until(lambda: stage.peer.closes)
    assert stage.peer.closes[0].kind is CloseKind.LOST


async def test_it_logs_out_at_the_end_of_its_hours_and_rests(stage: Stage) -> None:
    line = stage.line()
    await stage.up(line)
    line._schedule = Schedule(Timetable(closed_on=days_around_now()))
    await until(lambda: stage.peer.closes)
    assert stage.peer.closes[0].kind is CloseKind.LOGOUT
    await until(lambda: line.state is LineState.RESTING)
    assert not line.is_open()
    line._schedule = Schedule(Timetable())
    await stage.up(line, 2)


def days_around_now() -> tuple[str, ...]:
    now = datetime.now(UTC)
    return tuple(f"{now + timedelta(days=day):%Y-%m-%d}" for day in (-1, 0, 1))


async def test_the_desk_disconnects_and_connects(stage: Stage) -> None:
    line = stage.line()
    await stage.up(line)
    line.disconnect()
    await until(lambda: stage.peer.closes)
    assert (stage.peer.closes[0].kind, stage.peer.closes[0].reason) == (CloseKind.LOGOUT, "End of session")
    await until(lambda: line.state is LineState.RESTING)
    line.connect()
    await stage.up(line, 2)


async def test_it_logs_out_when_it_is_stopped(stage: Stage) -> None:
    line = stage.line()
    await stage.up(line)
    line.stop()
    await asyncio.wait_for(stage.tasks[0], 10)
    assert stage.peer.closes[0].kind is CloseKind.LOGOUT
    assert line.state is LineState.RESTING


async def test_pauses_double_and_are_long_after_a_logout_for_sending_too_fast(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconnect_pause, "_PAUSE_S", 0.5)
    line = stage.line()
    stage.tasks.pop().cancel()
    lost = Close(CloseKind.LOST, "gone")
    pauses = [line._pause_s(lost) for _ in range(9)]
    for pause, most in zip(pauses, (0.5, 1, 2, 4, 8, 16, 30, 30, 30), strict=True):
        assert 0.75 * most <= pause <= most
    assert len({pause / 30 for pause in pauses[-3:]}) == 3
    line.progressed()
    assert line._pause_s(lost) <= 0.5, "the venue settled an order since"
    line.connect()
    assert line._pause_s(Close(CloseKind.LOGOUT, "Too many messages")) >= 15


async def test_messages_are_sent_in_turn_at_the_pace_of_the_profile(stage: Stage) -> None:
    line = stage.line(msgspec.structs.replace(RESETTING, rate=Rate(count=50, burst=2)))
    await stage.up(line)
    begun_us = clock_us()
    await asyncio.gather(*(line.send([(35, "D"), (11, number)]) for number in range(12)))
    assert clock_us() - begun_us >= 10 * 20_000
    await until(lambda: len(stage.peer.received) == 12)
    assert [each.get(11) for each in stage.peer.received] == [str(number) for number in range(12)]


# --- TLS ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate of localhost, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    files = str(folder / "cert.pem"), str(folder / "key.pem")
    request = [find("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    request += ["-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*request, "-out", files[0], "-keyout", files[1]], check=True, capture_output=True)
    return files


@pytest.fixture
async def tls_stage(certificate: tuple[str, str]) -> AsyncIterator[Stage]:
    stage = Stage()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate)
    await stage.peer.start(context)
    yield stage
    await stage.end()


async def test_it_speaks_tls(tls_stage: Stage, certificate: tuple[str, str]) -> None:
    line = tls_stage.line(tls=Tls(ca_file=certificate[0], server_name="localhost"))
    await tls_stage.up(line)
    await line.send([(35, "D"), (11, "one")])
    await until(lambda: tls_stage.peer.received)


@pytest.mark.parametrize("wrong", ["authority", "name"])
async def test_a_certificate_that_proves_nothing_gets_no_password(
    tls_stage: Stage, certificate: tuple[str, str], wrong: str
) -> None:
    tls = (
        Tls(server_name="localhost")
        if wrong == "authority"
        else Tls(ca_file=certificate[0], server_name="other")
    )
    line = tls_stage.line(tls=tls)
    await until(lambda: line.status().reason)
    assert "certificate verify failed" in line.status().reason.lower()
    assert tls_stage.peer.logons == []
