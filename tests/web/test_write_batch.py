"""Responses that are written at the end of a turn of the event loop, and in which order."""

import asyncio
from typing import Any

import pytest

from bullion.web.write_batch import BatchedWriter

pytestmark = pytest.mark.anyio


class Wires:
    """What the kernel would be asked for, by all connections, in order."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def connection(self, name: str) -> BatchedWriter:
        transport: Any = Transport(name, self.done)
        return BatchedWriter(transport, asyncio.get_running_loop())


class Transport:
    def __init__(self, name: str, done: list[str]) -> None:
        self._name = name
        self._done = done

    def write(self, data: bytes) -> None:
        if data == b"breaks":
            raise RuntimeError("whatever the transport meant by it")
        self._done.append(f"{self._name}: {data.decode()}")

    def write_eof(self) -> None:
        self._done.append(f"{self._name} ends")

    def close(self) -> None:
        self._done.append(f"{self._name} closed")

    def abort(self) -> None:
        self._done.append(f"{self._name} aborted")


async def test_answers_of_one_turn_go_out_when_it_ends() -> None:
    wires = Wires()
    first, second = wires.connection("a"), wires.connection("b")
    second.put(b"1")
    first.put(b"2")
    first.put(b"3")
    assert wires.done == []
    await asyncio.sleep(0)
    assert wires.done == ["b: 1", "a: 23"]
    first.put(b"4")
    assert len(wires.done) == 2
    await asyncio.sleep(0)
    assert wires.done[2:] == ["a: 4"]


@pytest.mark.parametrize(
    ("act", "then"),
    [("write_eof", "a ends"), ("close", "a closed"), ("abort", "a aborted")],
)
async def test_whatever_ends_a_connection_sends_what_waits_first(act: str, then: str) -> None:
    wires = Wires()
    writer = wires.connection("a")
    writer.put(b"answer")
    getattr(writer, act)()
    assert wires.done == ["a: answer", then]
    await asyncio.sleep(0)
    assert len(wires.done) == 2


async def test_nothing_overtakes_an_answer_that_waits() -> None:
    wires = Wires()
    writer = wires.connection("a")
    writer.put(b"first")
    writer.write(b"second")
    writer.put(b"third")
    await asyncio.sleep(0)
    assert wires.done == ["a: first", "a: second", "a: third"]


async def test_nothing_is_sent_to_a_connection_that_is_gone() -> None:
    wires = Wires()
    gone, other = wires.connection("a"), wires.connection("b")
    gone.put(b"1")
    other.put(b"2")
    gone.discard()
    await asyncio.sleep(0)
    assert wires.done == ["b: 2"]


async def test_one_that_cannot_be_sent_does_not_keep_the_others() -> None:
    wires, broken = Wires(), list[Any]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: broken.append(context["exception"]))
    for name, data in (("a", b"1"), ("b", b"breaks"), ("c", b"3")):
        wires.connection(name).put(data)
    for _ in range(3):
        await asyncio.sleep(0)
    assert wires.done == ["a: 1", "c: 3"]
    assert [type(error) for error in broken] == [RuntimeError]
