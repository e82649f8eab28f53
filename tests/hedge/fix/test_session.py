"""The session against the cases of the FIX 4.4 session tests, one side at a time."""

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.hedge.fix.codec import Decoder, Message, Pair, message_of, time_text
from bullion.hedge.fix.session import Session
from bullion.hedge.fix.session_effects import (
    Close,
    CloseKind,
    Deliver,
    Effect,
    LineState,
    LoggedOn,
    NotLoggedOn,
    Numbers,
    Reserve,
    Role,
    Send,
    SessionSettings,
    Skipped,
)

NOW = 1_800_000_000_000_000
S = 1_000_000
Fields = tuple[tuple[int, str | int], ...]


class Bench:
    """A session, and what the other side sends it."""

    def __init__(self, role: Role, session: Session) -> None:
        self.role = role
        self.session = session
        self.now = NOW
        self.peer = 1
        """The other side's next number."""

    def get(
        self,
        kind: str,
        *fields: tuple[int, str | int],
        number: int | None = None,
        head: Fields = (),
        at: int | None = None,
        begin: str = "FIX.4.4",
    ) -> "Seen":
        """The other side sends this."""
        if number is None:
            number, self.peer = self.peer, self.peer + 1
        header: list[tuple[int, str | int]] = [(35, kind), (49, "THEM"), (56, "US"), (34, number)]
        time = time_text(self.now if at is None else at)
        named = {tag for tag, _ in head}
        pairs = [(tag, value) for tag, value in [*header, (52, time)] if tag not in named]
        kept = [pair for pair in [*head, *fields] if pair[1] != ""]
        first, rest = pairs[0], pairs[1:]
        return self.take(message_of([first, *rest, *kept], begin))

    def take(self, message: Message) -> "Seen":
        return Seen(self.session.received(message, self.now))

    def tick(self, seconds: float = 0) -> "Seen":
        self.now += round(seconds * S)
        return Seen(self.session.tick(self.now))


class Seen:
    """Effects, as messages."""

    def __init__(self, effects: Sequence[Effect]) -> None:
        self.effects = effects
        self.sent = [read(each) for each in effects if isinstance(each, Send)]
        self.types = "".join(message.type for message in self.sent)
        self.delivered = [each.message.get(58) for each in effects if isinstance(each, Deliver)]
        self.closed = next((each.kind for each in effects if isinstance(each, Close)), None)

    def of(self, kind: type[Effect]) -> list[Effect]:
        return [each for each in self.effects if isinstance(each, kind)]


def read(sent: Send) -> Message:
    message = message_of_bytes(sent.data)
    assert (message.type, message.get(34)) == (sent.type, str(sent.number))
    assert (message.get(49), message.get(56)) == ("US", "THEM")
    return message


def message_of_bytes(data: bytes) -> Message:
    (message,) = Decoder().feed(data)
    assert isinstance(message, Message)
    return message


def fields(message: Message, *tags: int) -> list[str | None]:
    return [message.get(tag) for tag in tags]


def settings(role: Role = Role.INITIATOR, *, reset: bool = False) -> SessionSettings:
    return SessionSettings(
        sender="US",
        target="THEM",
        role=role,
        heartbeat_s=10,
        reset_on_logon=reset,
        logon_fields=((553, "me"), (554, "secret")) if role is Role.INITIATOR else (),
    )


def fresh(role: Role, numbers: Numbers | None = None, *, reset: bool = False) -> Bench:
    return Bench(role, Session(settings(role, reset=reset), NOW, numbers))


def logged_on(role: Role, numbers: Numbers | None = None) -> Bench:
    bench = fresh(role, numbers)
    if role is Role.INITIATOR:
        bench.session.start(NOW)
    bench.peer = bench.session.numbers.incoming
    seen = bench.get("A", (98, 0), (108, 10))
    assert len(seen.of(LoggedOn)) == 1
    bench.session.recovered()
    assert bench.session.state is LineState.UP
    return bench


@pytest.fixture(params=list(Role))
def bench(request: pytest.FixtureRequest) -> Bench:
    """A session that is up, on either side. Next numbers: 2 and 2."""
    return logged_on(request.param)


# --- Logon --------------------------------------------------------------------------------------------


def test_the_initiator_logs_on() -> None:
    bench = fresh(Role.INITIATOR, reset=True)
    (sent,) = Seen(bench.session.start(NOW)).sent
    assert fields(sent, 35, 34, 98, 108, 141, 553, 554) == ["A", "1", "0", "10", "Y", "me", "secret"]
    with pytest.raises(NotLoggedOn):
        bench.session.send([(35, "D")], NOW)
    seen = bench.get("A", (98, 0), (108, 10), (141, "Y"))
    assert [type(each) for each in seen.effects] == [LoggedOn]
    assert bench.session.state.value == "recovering"
    assert bench.session.numbers == Numbers(2, 2)
    (order,) = Seen(bench.session.send([(35, "D"), (11, "x")], NOW)).sent
    assert fields(order, 35, 34, 11, 52) == ["D", "2", "x", time_text(NOW)]
    bench.session.recovered()
    assert bench.session.state is LineState.UP


def test_the_initiator_continues_with_its_numbers() -> None:
    bench = fresh(Role.INITIATOR, Numbers(57, 33))
    (sent,) = Seen(bench.session.start(NOW)).sent
    assert fields(sent, 34, 141) == ["57", None]
    assert bench.get("A", (98, 0), (108, 10), number=33).of(LoggedOn)
    assert bench.session.numbers == Numbers(58, 34)


def test_the_acceptor_answers_the_logon_with_the_initiators_heartbeat() -> None:
    bench = fresh(Role.ACCEPTOR)
    seen = bench.get("A", (98, 0), (108, 7))
    (sent,) = seen.sent
    assert fields(sent, 35, 34, 98, 108, 141) == ["A", "1", "0", "7", None]
    assert seen.of(LoggedOn)
    assert bench.session.heartbeat_s == 7


def test_the_acceptor_resets_with_the_initiator() -> None:
    bench = fresh(Role.ACCEPTOR, Numbers(57, 33))
    (sent,) = bench.get("A", (98, 0), (108, 7), (141, "Y")).sent
    assert fields(sent, 34, 141) == ["1", "Y"]
    assert bench.session.numbers == Numbers(2, 2)


def test_a_reset_that_nobody_asked_for_counts_our_logon_as_the_first() -> None:
    bench = fresh(Role.INITIATOR, Numbers(57, 33))
    bench.session.start(NOW)
    seen = bench.get("A", (98, 0), (108, 10), (141, "Y"))
    assert [each.reset for each in seen.of(LoggedOn) if isinstance(each, LoggedOn)] == [True]
    assert bench.session.numbers == Numbers(2, 2)


@pytest.mark.parametrize("role", list(Role))
def test_a_logon_with_a_number_too_high_is_a_logon_and_a_gap(role: Role) -> None:
    bench = fresh(role, Numbers(5, 3))
    if role is Role.INITIATOR:
        bench.session.start(NOW)
    seen = bench.get("A", (98, 0), (108, 10), number=9)
    assert seen.of(LoggedOn)
    assert seen.types == ("2" if role is Role.INITIATOR else "A2")
    assert fields(seen.sent[-1], 7, 16) == ["3", "0"]
    assert bench.session.numbers.incoming == 3
    assert bench.get("4", (123, "Y"), (36, 10), number=3, head=((43, "Y"),)).of(Skipped) == [Skipped(3, 9)]
    assert bench.session.numbers.incoming == 10


@pytest.mark.parametrize("role", list(Role))
def test_a_logon_with_a_number_too_low_ends_the_session(role: Role) -> None:
    bench = fresh(role, Numbers(5, 3))
    if role is Role.INITIATOR:
        bench.session.start(NOW)
    seen = bench.get("A", (98, 0), (108, 10), number=2)
    assert (seen.types, seen.closed) == ("5", CloseKind.TOO_LOW)
    assert "expecting 3 but received 2" in (seen.sent[0].get(58) or "")
    assert not seen.of(LoggedOn)
    assert bench.session.numbers.incoming == 3


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("MsgSeqNum too low, expecting 9 but received 1", CloseKind.TOO_LOW),
        ("wrong password", CloseKind.REFUSED),
        ("", CloseKind.REFUSED),
    ],
)
def test_a_logon_that_the_venue_refuses(text: str, kind: CloseKind) -> None:
    bench = fresh(Role.INITIATOR)
    bench.session.start(NOW)
    seen = bench.get("5", (58, text))
    assert (seen.closed, seen.types) == (kind, "")


@pytest.mark.parametrize("role", list(Role))
def test_the_first_message_must_be_a_logon(role: Role) -> None:
    bench = fresh(role)
    if role is Role.INITIATOR:
        bench.session.start(NOW)
    seen = bench.get("8", (58, "a fill"))
    assert (seen.closed, seen.delivered) == (CloseKind.VIOLATION, [])


@pytest.mark.parametrize(
    "wrong", [((98, 1), (108, 10)), ((98, 0),), ((98, 0), (108, "x")), ((98, 0), (108, -1))]
)
def test_a_logon_that_is_wrong(wrong: Fields) -> None:
    seen = fresh(Role.ACCEPTOR).get("A", *wrong)
    assert (seen.types, seen.closed) == ("5", CloseKind.VIOLATION)
    assert not seen.of(LoggedOn)


def test_a_logon_that_is_not_answered() -> None:
    bench = fresh(Role.INITIATOR)
    bench.session.start(NOW)
    assert bench.tick(9.9).effects == []
    assert bench.tick(0.1).closed is CloseKind.LOST


def test_the_acceptor_refuses_a_logon() -> None:
    bench = fresh(Role.ACCEPTOR)
    bench.session.refusal = "wrong password"
    seen = bench.get("A", (98, 0), (108, 10))
    assert (seen.types, seen.sent[0].get(58), seen.closed) == ("5", "wrong password", CloseKind.REFUSED)
    assert not seen.of(LoggedOn)


def test_the_owner_ends_the_session(bench: Bench) -> None:
    seen = Seen(bench.session.refuse("Too many messages", NOW))
    assert (seen.types, seen.sent[0].get(58), seen.closed) == ("5", "Too many messages", CloseKind.LOGOUT)


def test_a_second_logon_is_rejected_and_a_reset_in_the_session_answered(bench: Bench) -> None:
    seen = bench.get("A", (98, 0), (108, 10))
    assert (seen.types, seen.sent[0].get(45)) == ("3", "2")
    seen = bench.get("A", (98, 0), (108, 10), (141, "Y"), number=1)
    assert fields(seen.sent[0], 35, 34, 141) == ["A", "1", "Y"]
    assert bench.session.numbers == Numbers(2, 2)
    assert bench.session.state is LineState.RECOVERING


# --- Who, and when ------------------------------------------------------------------------------------


@pytest.mark.parametrize("head", [((49, "OTHER"),), ((56, "OTHER"),)])
def test_a_wrong_comp_id_ends_the_session(bench: Bench, head: Fields) -> None:
    seen = bench.get("8", (58, "x"), head=head)
    assert (seen.types, seen.closed, seen.delivered) == ("35", CloseKind.VIOLATION, [])
    assert fields(seen.sent[0], 45, 373) == ["2", "9"]


def test_a_logon_of_somebody_else_is_not_answered() -> None:
    seen = fresh(Role.ACCEPTOR).get("A", (98, 0), (108, 10), head=((49, "OTHER"),))
    assert (seen.types, seen.closed) == ("", CloseKind.VIOLATION)


def test_a_wrong_begin_string_ends_the_session(bench: Bench) -> None:
    seen = bench.get("8", (58, "x"), begin="FIX.4.2")
    assert (seen.types, seen.closed, seen.delivered) == ("5", CloseKind.VIOLATION, [])


@pytest.mark.parametrize("number", ["", "x", "-1", "1.0"])
def test_a_message_without_a_number_ends_the_session(bench: Bench, number: str) -> None:
    seen = bench.get("8", head=((34, number),))
    assert (seen.types, seen.closed) == ("5", CloseKind.VIOLATION)


@pytest.mark.parametrize("off_s", [-121, 121])
def test_a_sending_time_that_is_far_off_ends_the_session(bench: Bench, off_s: int) -> None:
    seen = bench.get("8", (58, "x"), at=NOW + off_s * S)
    assert (seen.types, seen.closed, seen.delivered) == ("35", CloseKind.VIOLATION, [])
    assert fields(seen.sent[0], 371, 373) == ["52", "10"]


@pytest.mark.parametrize("off_s", [-119, 0, 119])
def test_a_sending_time_that_is_nearly_right_is_accepted(bench: Bench, off_s: int) -> None:
    assert bench.get("8", (58, "x"), at=NOW + off_s * S).delivered == ["x"]


def test_a_message_without_a_sending_time_ends_the_session(bench: Bench) -> None:
    seen = bench.get("8", (58, "x"), head=((52, ""),))
    assert (fields(seen.sent[0], 371, 373), seen.closed) == (["52", "1"], CloseKind.VIOLATION)


# --- Numbers ------------------------------------------------------------------------------------------


def test_messages_in_order_are_delivered(bench: Bench) -> None:
    assert [bench.get("8", (58, text)).delivered for text in "ab"] == [["a"], ["b"]]
    assert bench.session.numbers == Numbers(2, 4)


def test_a_gap_is_asked_for_once_and_what_is_behind_it_is_delivered_in_order(bench: Bench) -> None:
    seen = bench.get("8", (58, "5"), number=5)
    assert (seen.types, seen.delivered) == ("2", [])
    assert fields(seen.sent[0], 7, 16) == ["2", "0"]
    assert bench.get("8", (58, "6"), number=6).effects == []
    duplicate: Fields = ((43, "Y"), (122, time_text(NOW)))
    assert bench.get("8", (58, "2"), number=2, head=duplicate).delivered == ["2"]
    assert bench.get("4", (123, "Y"), (36, 4), number=3, head=duplicate).effects == [Skipped(3, 3)]
    assert bench.get("8", (58, "4"), number=4, head=duplicate).delivered == ["4", "5", "6"]
    # They are repeated too, as the request had no end.
    assert bench.get("8", (58, "5"), number=5, head=duplicate).effects == []
    assert bench.get("8", (58, "7"), number=7).delivered == ["7"]
    assert bench.session.gaps == 1


def test_what_arrived_is_delivered_also_if_the_other_side_skips_it(bench: Bench) -> None:
    bench.get("8", (58, "4"), number=4)
    seen = bench.get("4", (123, "Y"), (36, 6), number=2, head=((43, "Y"), (122, time_text(NOW))))
    assert (seen.delivered, seen.of(Skipped)) == (["4"], [Skipped(2, 5)])
    assert bench.get("8", (58, "6"), number=6).delivered == ["6"]


def test_a_second_gap_behind_the_first_is_asked_for(bench: Bench) -> None:
    bench.get("8", (58, "3"), number=3)
    bench.get("8", (58, "6"), number=6)
    seen = bench.get("8", (58, "2"), number=2, head=((43, "Y"), (122, time_text(NOW))))
    assert (seen.delivered, seen.types) == (["2", "3"], "2")
    assert fields(seen.sent[0], 7, 16) == ["4", "0"]


def test_a_gap_that_is_not_filled_is_asked_for_again_and_then_the_line_is_lost(bench: Bench) -> None:
    """Soon: what the venue sends again may be lost as well, and all that follows waits for it."""
    bench.get("8", number=5)
    asked_at, closed = [], None
    for number in range(6, 36):
        bench.get("0", number=number)
        seen = bench.tick(1)
        asked_at += [bench.now - NOW] if "2" in seen.types else []
        closed = seen.closed
        if closed:
            break
    assert (asked_at, closed) == ([3 * S, 9 * S, 21 * S], CloseKind.LOST)
    assert bench.now - NOW == 24 * S


def test_a_number_too_low_ends_the_session(bench: Bench) -> None:
    bench.get("0")
    seen = bench.get("8", (58, "x"), number=2)
    assert (seen.types, seen.closed, seen.delivered) == ("5", CloseKind.TOO_LOW, [])
    assert seen.sent[0].get(58) == "MsgSeqNum too low, expecting 3 but received 2"
    assert bench.get("8", (58, "x")).effects == ()


def test_a_repeated_message_with_a_number_too_low_is_ignored(bench: Bench) -> None:
    bench.get("8", (58, "x"))
    assert bench.get("8", (58, "x"), number=2, head=((43, "Y"), (122, time_text(NOW - S)))).effects == []


def test_a_repeated_message_without_its_first_time_is_rejected(bench: Bench) -> None:
    seen = bench.get("8", (58, "x"), head=((43, "Y"),))
    assert fields(seen.sent[0], 35, 45, 371, 372, 373) == ["3", "2", "122", "8", "1"]
    assert (seen.delivered, seen.closed) == ([], None)
    assert bench.get("8", (58, "y")).delivered == ["y"]


def test_a_repeated_message_first_sent_in_the_future_ends_the_session(bench: Bench) -> None:
    seen = bench.get("8", (58, "x"), head=((43, "Y"), (122, time_text(NOW + S))))
    assert (seen.types, seen.closed, seen.delivered) == ("35", CloseKind.VIOLATION, [])
    assert fields(seen.sent[0], 371, 373) == ["122", "10"]


def test_a_possible_resend_is_delivered(bench: Bench) -> None:
    """97=Y has a new number: whether it is known is the owner's to find out."""
    assert bench.get("8", (58, "x"), head=((97, "Y"),)).delivered == ["x"]


# --- SequenceReset ------------------------------------------------------------------------------------


def test_a_reset_raises_the_number_whatever_its_own_is(bench: Bench) -> None:
    seen = bench.get("4", (36, 20), number=1)
    assert (seen.effects, bench.session.numbers.incoming) == ([Skipped(2, 19)], 20)
    assert bench.get("4", (36, 20), number=500).effects == []
    assert bench.get("8", (58, "x"), number=20).delivered == ["x"]


@pytest.mark.parametrize("gap_fill", [(), ((123, "N"),)])
def test_a_reset_that_lowers_the_number_is_rejected(bench: Bench, gap_fill: Fields) -> None:
    for _ in range(3):
        bench.get("0")
    seen = bench.get("4", *gap_fill, (36, 2))
    assert fields(seen.sent[0], 35, 371, 373) == ["3", "36", "5"]
    assert (bench.session.numbers.incoming, seen.closed) == (5, None)


def test_a_gap_fill_that_lowers_the_number_is_rejected_and_counted(bench: Bench) -> None:
    seen = bench.get("4", (123, "Y"), (36, 2))
    assert fields(seen.sent[0], 35, 371, 373) == ["3", "36", "5"]
    assert bench.get("8", (58, "x")).delivered == ["x"]


def test_a_gap_fill_with_a_number_too_high_is_a_gap(bench: Bench) -> None:
    assert bench.get("4", (123, "Y"), (36, 20), number=5).types == "2"
    assert bench.session.numbers.incoming == 2


def test_a_gap_fill_with_a_number_too_low_is_ignored_if_repeated_and_ends_the_session_if_not(
    bench: Bench,
) -> None:
    bench.get("0")
    assert (
        bench.get("4", (123, "Y"), (36, 9), number=2, head=((43, "Y"), (122, time_text(NOW)))).effects == []
    )
    assert bench.session.numbers.incoming == 3
    assert bench.get("4", (123, "Y"), (36, 9), number=2).closed is CloseKind.TOO_LOW


def test_a_reset_without_a_number_is_rejected(bench: Bench) -> None:
    assert fields(bench.get("4").sent[0], 371, 373) == ["36", "1"]


# --- ResendRequest ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "filled"),
    [
        ((1, 0), (1, 2)),
        ((1, 3), (1, 4)),
        ((2, 0), (2, 5)),
        ((2, 3), (2, 4)),
        ((2, 99), (2, 5)),
        ((4, 4), (4, 5)),
        ((5, 0), None),
    ],
)
def test_a_resend_request_is_answered_with_a_gap_fill_alone(
    bench: Bench, asked: tuple[int, int], filled: tuple[int, int] | None
) -> None:
    for _ in range(3):
        bench.session.send([(35, "D"), (11, "x")], NOW)
    assert bench.session.numbers.outgoing == 5
    seen = bench.get("2", (7, asked[0]), (16, asked[1]))
    if filled is None:
        assert seen.sent == []
    else:
        (sent,) = seen.sent
        assert fields(sent, 35, 34, 36) == ["4", str(filled[0]), str(filled[1])]
        assert fields(sent, 43, 123, 122) == ["Y", "Y", time_text(NOW)]
    assert bench.session.numbers.outgoing == 5


def test_what_was_sent_behind_a_logon_with_a_gap_is_not_filled_over() -> None:
    """It reached the other side before it asked: filled over, an order would be lost."""
    bench = logged_on(Role.INITIATOR, Numbers(50, 1))
    bench.session.send([(35, "D"), (11, "x")], NOW)
    assert bench.session.numbers.outgoing == 52
    (sent,) = bench.get("2", (7, 1), (16, 0)).sent
    assert fields(sent, 34, 36) == ["1", "51"]
    # The other side did not keep it.
    (sent,) = bench.get("2", (7, 51), (16, 0)).sent
    assert fields(sent, 34, 36) == ["51", "52"]


@pytest.mark.parametrize("wrong", [((7, 0), (16, 0)), ((7, "x"), (16, 0)), ((7, 1),), ((16, 0),)])
def test_a_resend_request_that_is_wrong_is_rejected(bench: Bench, wrong: Fields) -> None:
    assert bench.get("2", *wrong).types == "3"


def test_a_resend_request_behind_a_gap_is_answered_at_once_and_only_once(bench: Bench) -> None:
    seen = bench.get("2", (7, 1), (16, 0), number=4)
    assert seen.types == "42"
    seen = bench.get("4", (123, "Y"), (36, 4), number=2, head=((43, "Y"), (122, time_text(NOW))))
    assert (seen.types, bench.session.numbers.incoming) == ("", 5)


# --- Heartbeats ---------------------------------------------------------------------------------------


def test_a_heartbeat_goes_out_after_a_quiet_interval(bench: Bench) -> None:
    assert bench.tick(9.9).types == ""
    assert bench.tick(0.1).types == "0"
    bench.session.send([(35, "D"), (11, "x")], bench.now)
    bench.get("0")
    assert bench.tick(9).types == ""
    assert bench.tick(1).types == "0"


def test_silence_is_tested_and_then_the_line_is_lost(bench: Bench) -> None:
    assert "1" not in bench.tick(11.9).types
    seen = bench.tick(0.1)
    assert fields(seen.sent[-1], 35, 112)[0] == "1"
    assert bench.tick(11.9).closed is None
    assert bench.tick(0.1).closed is CloseKind.LOST
    assert bench.now - NOW == 24 * S


def test_an_answer_to_the_test_keeps_the_line(bench: Bench) -> None:
    (test,) = (each for each in bench.tick(12).sent if each.type == "1")
    bench.get("0", (112, test.get(112) or ""))
    assert bench.tick(11.9).closed is None
    again = bench.tick(0.1)
    assert [each.get(112) for each in again.sent if each.type == "1"] != [test.get(112)]


def test_a_process_that_stood_still_tests_the_line_before_it_gives_it_up(bench: Bench) -> None:
    seen = bench.tick(100)
    assert (seen.closed, "1" in seen.types) == (None, True)
    bench.get("0")
    assert bench.tick(11).closed is None


def test_a_clock_that_was_put_back_does_not_hide_silence(bench: Bench) -> None:
    bench.tick(-3600)
    assert "1" in bench.tick(12).types
    assert bench.tick(12).closed is CloseKind.LOST


def test_a_test_request_is_answered_with_its_own_text(bench: Bench) -> None:
    assert fields(bench.get("1", (112, "hello")).sent[0], 35, 112) == ["0", "hello"]
    assert fields(bench.get("1").sent[0], 35, 371, 373) == ["3", "112", "1"]


def test_without_an_interval_there_are_no_heartbeats() -> None:
    bench = fresh(Role.ACCEPTOR)
    bench.get("A", (98, 0), (108, 0))
    assert bench.tick(10_000).effects == []


# --- Reject -------------------------------------------------------------------------------------------


def test_a_reject_is_the_owners(bench: Bench) -> None:
    assert bench.get("3", (45, 2), (58, "no such symbol")).delivered == ["no such symbol"]


def test_a_message_with_a_field_that_cannot_be_read_is_rejected_and_counted(bench: Bench) -> None:
    body = f"35=8|49=THEM|56=US|34=2|52={time_text(NOW)}|55=|58=x|".replace("|", "\x01").encode()
    data = b"8=FIX.4.4\x019=%d\x01" % len(body) + body
    seen = bench.take(message_of_bytes(data + b"10=%03d\x01" % (sum(data) % 256)))
    assert fields(seen.sent[0], 35, 45, 371, 372, 373) == ["3", "2", "55", "8", "4"]
    assert (seen.delivered, bench.session.numbers.incoming) == ([], 3)
    assert seen.of(Skipped) == [Skipped(2, 2)], "the owner knows that it did not see all"


def test_the_owner_rejects_what_it_cannot_read(bench: Bench) -> None:
    message = message_of([(35, "8"), (34, 2)])
    seen = Seen(bench.session.reject(message, NOW, 16, "wrong count", 268))
    assert fields(seen.sent[0], 35, 45, 371, 372, 373, 58) == ["3", "2", "268", "8", "16", "wrong count"]


# --- Logout -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [2, 9])
def test_a_logout_is_answered_and_the_connection_closed(bench: Bench, number: int) -> None:
    seen = bench.get("5", (58, "good night"), number=number)
    assert (seen.types, seen.closed) == ("5", CloseKind.LOGOUT)
    assert [each.reason for each in seen.effects if isinstance(each, Close)] == ["good night"]
    with pytest.raises(NotLoggedOn):
        bench.session.send([(35, "D")], NOW)


def test_leaving_waits_for_the_answer_and_takes_what_comes_before_it(bench: Bench) -> None:
    (sent,) = Seen(bench.session.leave(NOW, "end of day")).sent
    assert fields(sent, 35, 58) == ["5", "end of day"]
    assert bench.session.state is LineState.LEAVING
    assert bench.get("8", (58, "late fill")).delivered == ["late fill"]
    seen = bench.get("5")
    assert (seen.types, seen.closed) == ("", CloseKind.LOGOUT)


def test_leaving_ends_without_an_answer(bench: Bench) -> None:
    bench.session.leave(NOW)
    assert bench.tick(4.9).closed is None
    assert bench.tick(0.1).closed is CloseKind.LOGOUT


# --- Kept numbers -------------------------------------------------------------------------------------


def test_kept_numbers_are_reserved_before_they_are_used() -> None:
    session = Session(settings(), NOW, Numbers(500, 7), reserved_below=500)
    (reserve,) = session.start(NOW)
    assert reserve == Reserve(601)
    (sent,) = Seen(session.reserved(601)).sent
    assert fields(sent, 35, 34) == ["A", "500"]
    bench = Bench(Role.INITIATOR, session)
    assert bench.get("A", (98, 0), (108, 10), number=7).of(LoggedOn)
    reserved, numbers = 601, []
    for _ in range(500):
        for each in session.send([(35, "D"), (11, "x")], NOW):
            if isinstance(each, Reserve):
                reserved = each.below
                session.reserved(reserved)
            elif isinstance(each, Send):
                numbers.append(each.number)
                assert each.number < reserved
    assert numbers == list(range(501, 1001))


def test_messages_wait_in_their_order_until_the_store_has_the_reservation() -> None:
    session = Session(settings(), NOW, Numbers(500, 7), reserved_below=500)
    session.start(NOW)
    session.reserved(601)
    Bench(Role.INITIATOR, session).get("A", (98, 0), (108, 10), number=7)
    effects = [each for number in range(150) for each in session.send([(35, "D"), (11, number)], NOW)]
    assert [each.below for each in effects if isinstance(each, Reserve)] == [652, 703]
    assert [each.number for each in effects if isinstance(each, Send)] == list(range(501, 601))
    sent = [each.number for each in session.reserved(703) if isinstance(each, Send)]
    assert sent == list(range(601, 651))


# --- Both sides of our own ----------------------------------------------------------------------------


def test_two_sessions_recover_from_numbers_lost_on_either_side() -> None:
    """Whichever numbers each side kept, they end in step, unless one of them is behind the other."""
    for us, them in [(Numbers(9, 4), Numbers(4, 9)), (Numbers(90, 4), Numbers(40, 9))]:
        one = Session(settings(), NOW, us)
        theirs = SessionSettings(sender="THEM", target="US", role=Role.ACCEPTOR)
        other = Session(theirs, NOW, them)
        to_other, to_one = list(one.start(NOW)), list[Effect]()
        while to_other or to_one:
            to_one += take_all(other, to_other)
            to_other += take_all(one, to_one)
        assert one.numbers.outgoing == other.numbers.incoming
        assert other.numbers.outgoing == one.numbers.incoming
        assert (one.state, other.state) == (LineState.RECOVERING, LineState.RECOVERING)


def take_all(session: Session, effects: list[Effect]) -> list[Effect]:
    messages = [message_of_bytes(each.data) for each in effects if isinstance(each, Send)]
    effects.clear()
    return [effect for message in messages for effect in session.received(message, NOW)]


# --- Whatever the other side sends --------------------------------------------------------------------

ODD_VALUES = st.sampled_from(
    [
        "",
        "0",
        "1",
        "2",
        "3",
        "9",
        "-1",
        "Y",
        "N",
        "x",
        "999999999999999999",
        "9" * 30,
        "20260101-00:00:00",
        "²",
    ]
)
ODD_FIELDS = st.tuples(st.sampled_from([7, 16, 34, 36, 36, 36, 43, 52, 108, 112, 122, 123, 141]), ODD_VALUES)
ODD_MESSAGES = st.tuples(
    st.sampled_from("01224445A8"), st.lists(ODD_FIELDS, max_size=5), st.integers(-1, 4) | st.none()
)


@given(st.sampled_from(list(Role)), st.booleans(), st.lists(ODD_MESSAGES, max_size=12))
def test_nothing_that_arrives_breaks_the_session(
    role: Role, up: bool, messages: list[tuple[str, list[tuple[int, str]], int | None]]
) -> None:
    """It goes on or closes. Numbers never go down without a reset, and no old message is ever sent again."""
    bench = logged_on(role, Numbers(5, 7)) if up else fresh(role, Numbers(5, 7))
    sent: list[Send] = []
    for kind, odd, step in messages:
        before = msgspec.structs.replace(bench.session.numbers)
        bench.now += 3 * S
        named = {tag for tag, _ in odd}
        number = max(1, before.incoming + (step or 0))
        head: list[Pair] = [(49, "THEM"), (56, "US"), (34, number), (52, time_text(bench.now))]
        pairs: list[Pair] = [
            (35, kind),
            *(pair for pair in head if pair[0] not in named),
            *(pair for pair in odd if pair[1]),
        ]
        effects = [*bench.session.received(message_of(pairs), bench.now), *bench.session.tick(bench.now)]
        new = [each for each in effects if isinstance(each, Send)]
        if bench.session.numbers.incoming < before.incoming:
            assert kind == "A"
            assert (141, "Y") in odd
        # What has an old number fills a gap.
        filled = [
            each for each in new if each.number < before.outgoing and not (kind == "A" and (141, "Y") in odd)
        ]
        assert all(each.type == "4" for each in filled)
        sent += new
        if bench.session.closed:
            assert bench.session.received(message_of(pairs), bench.now) == ()
    assert all(isinstance(message_of_bytes(each.data), Message) for each in sent)
    assert {each.type for each in sent} <= set("A012345")
