"""The stream of events: server-sent events, from any number on, ended when the key is."""

import json
from contextlib import ExitStack

from bullion_conformance.check import Need, check
from bullion_conformance.checks.events import events_after, told
from bullion_conformance.client import OK, refused
from bullion_conformance.context import Context
from bullion_conformance.exchange import Exchange
from bullion_conformance.open_stream import END
from bullion_conformance.verdict import CheckFailed, expect, expect_equal

_STREAMS_MAX = 5
_ENDS_WITHIN_S = 3.0


def _fields(message: str) -> dict[str, str]:
    """The fields of one message; comments are left out."""
    found: dict[str, str] = {}
    for line in message.splitlines():
        name, _, value = line.partition(":")
        if name:
            found[name] = value.removeprefix(" ")
    return found


def _messages(answer: Exchange) -> list[dict[str, str]]:
    expect(answer.status == OK, f"{answer.call} answered {answer.reply}; expected 200.")
    kind = answer.headers.get("content-type", "").partition(";")[0]
    expect_equal(kind, "text/event-stream", "Content-Type of the stream")
    return [_fields(each) for each in answer.text.split(END) if each]


@check("bullion.stream", need=Need.DESK)
def the_stream_tells_what_the_list_tells(c: Context) -> None:
    found = c.once(told)
    answer = found.client.stream(until='"number":4', after=0)
    told_now = [each for each in _messages(answer) if "data" in each][: len(found.events)]
    expect_equal([_event(each["data"]) for each in told_now], found.events, "The events of the stream")
    for each, event in zip(told_now, found.events, strict=True):
        expect_equal(each.get("id"), f"{event['number']}", "`id` of a message")
        expect_equal(each.get("event"), event["type"], "`event` of a message")


def _event(data: str) -> object:
    try:
        return json.loads(data)
    except ValueError as error:
        raise CheckFailed(f"The data of a message is not JSON: {data[:100]}") from error


@check("bullion.stream.resume", need=Need.DESK)
def the_stream_goes_on(c: Context) -> None:
    found = c.once(told)
    answer = found.client.stream(until='"number":4', headers={"Last-Event-ID": "2"})
    numbers = [each["id"] for each in _messages(answer) if "data" in each]
    expect_equal(numbers[:2], ["3", "4"], "What a stream with Last-Event-ID: 2 tells first")
    refused(found.client.stream(headers={"Last-Event-ID": "1000000"}), "events_gone")


@check("bullion.stream.now", need=Need.DESK, orders=2)
def the_stream_begins_with_now(c: Context) -> None:
    client = c.new_client()
    client.placed()
    with client.opened_stream() as stream:
        first = _fields(stream.read())
        expect_equal(first.get("id"), "1", "`id` of the first lines, which says where the stream stands,")
        expect("data" not in first, "A stream without a number began with an old event.")
        order = client.placed()
        message = _fields(stream.read("data:").rpartition(END)[2])
    expect_equal(message.get("id"), "2", "`id` of the next message")
    expect(order["id"] in message.get("data", ""), "The next message is not about the order that was placed.")


@check("bullion.stream.limit", need=Need.DESK)
def a_key_has_five_streams(c: Context) -> None:
    client = c.new_client()
    with ExitStack() as stack:
        for _ in range(_STREAMS_MAX):
            stack.enter_context(client.opened_stream()).read()
        answer = client.stream()
        refused(answer, "too_many_streams")
        expect(answer.headers.get("retry-after", "").isdigit(), "too_many_streams came without Retry-After.")


@check("bullion.stream.end", need=Need.DESK)
def a_revoked_key_ends_its_stream(c: Context) -> None:
    login_id = c.broker.account()
    issued = c.broker.key(login_id)
    client = c.with_key(issued, login_id)
    with client.opened_stream() as stream:
        stream.read()
        c.broker.revoke(issued)
        began = c.clock()
        stream.read_to_end()
        took = c.clock() - began
    expect(took < _ENDS_WITHIN_S, f"The stream of a revoked key ended after {took:.1f} s.")
    last = _fields(stream.text.rstrip().rpartition(END)[2])
    expect_equal(last.get("event"), "end", "The last message of a stream that is ended")
    expect(
        "credential_revoked" in last.get("data", ""), "The last message does not say why the stream ended."
    )


@check("bullion.stream.same", need=Need.PRODUCTION)
def production_streams_too(c: Context) -> None:
    client = c.new_client("production")
    client.placed()
    events = events_after(client, 0)
    answer = client.stream(until=f'"number":{events[-1]["number"]}', after=0)
    streamed = [_event(each["data"]) for each in _messages(answer) if "data" in each]
    expect_equal(streamed, events, "The events of the stream")
