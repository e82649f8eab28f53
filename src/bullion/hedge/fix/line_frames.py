"""The private stream between the process that holds a line and those that call it.

A frame is its length in four bytes and a message in MessagePack. First both sides prove that they know the
token of the line's lease, without sending it: each answers the other's random bytes with an HMAC over them.
"""

import asyncio
import hmac
import secrets
from typing import Any

import msgspec

from bullion.hedge.venue import (
    Confirmed,
    Declined,
    Duplicate,
    HedgeRequest,
    ListedExecution,
    PartiallyFilled,
    Tradeability,
    Unconfirmed,
    UnknownOrder,
)

FRAME_MAX = 4 * 1024 * 1024
_NONCE_SIZE = 32


class StreamBroken(Exception):
    """The other side sent what it must not, or proved nothing."""


# --- Messages -----------------------------------------------------------------------------------------


class Challenge(msgspec.Struct, frozen=True, tag="challenge"):
    nonce: bytes


class Proof(msgspec.Struct, frozen=True, tag="proof"):
    nonce: bytes
    code: bytes


class Call(msgspec.Struct, frozen=True, tag="call"):
    number: int
    method: str
    body: msgspec.Raw


class Cancel(msgspec.Struct, frozen=True, tag="cancel"):
    """The caller does not wait for this call any more."""

    number: int


class Answer(msgspec.Struct, frozen=True, tag="answer"):
    number: int
    kind: str
    """The type of the body: the name of an answer of the port, or of what a method lists."""
    body: msgspec.Raw


class Unreachable(msgspec.Struct, frozen=True, tag="unreachable"):
    """The call raised VenueUnreachable."""

    number: int
    message: str


class InstrumentsBody(msgspec.Struct, frozen=True):
    broker: str
    named: list[str]


class ExecutionsBody(msgspec.Struct, frozen=True):
    broker: str
    after: str
    limit: int


Frame = Challenge | Proof | Call | Cancel | Answer | Unreachable
BODIES: dict[str, Any] = {
    "submit": HedgeRequest,
    "order_status": HedgeRequest,
    "instruments": InstrumentsBody,
    "executions": ExecutionsBody,
}
"""The body of each method's call."""
_ANSWERS: dict[str, Any] = {
    each.__name__: each
    for each in (Confirmed, Declined, PartiallyFilled, Unconfirmed, Duplicate, UnknownOrder)
}
_ANSWERS |= {"instruments": dict[str, Tradeability], "executions": list[ListedExecution]}

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Frame).decode
_body_decoders = {method: msgspec.msgpack.Decoder(kind).decode for method, kind in BODIES.items()}
_answer_decoders = {name: msgspec.msgpack.Decoder(kind).decode for name, kind in _ANSWERS.items()}


def call_of(number: int, method: str, body: object) -> Call:
    return Call(number, method, msgspec.Raw(_encode(body)))


def body_of(call: Call) -> Any:
    decode = _body_decoders.get(call.method)
    if decode is None:
        raise StreamBroken(f"no method {call.method!r}")
    try:
        return decode(call.body)
    except msgspec.MsgspecError as error:
        raise StreamBroken(str(error)) from error


def answer_of(number: int, method: str, answer: object) -> Answer:
    kind = type(answer).__name__
    return Answer(number, kind if kind in _ANSWERS else method, msgspec.Raw(_encode(answer)))


def answered(answer: Answer) -> Any:
    decode = _answer_decoders.get(answer.kind)
    if decode is None:
        raise StreamBroken(f"an answer of the unknown kind {answer.kind!r}")
    try:
        return decode(answer.body)
    except msgspec.MsgspecError as error:
        raise StreamBroken(str(error)) from error


# --- Frames -------------------------------------------------------------------------------------------


def write_frame(writer: asyncio.StreamWriter, frame: Frame) -> None:
    data = _encode(frame)
    if len(data) > FRAME_MAX:
        raise StreamBroken(f"a frame of {len(data)} bytes is too long")
    writer.write(len(data).to_bytes(4, "big") + data)


async def read_frame(reader: asyncio.StreamReader) -> Frame:
    """May raise StreamBroken, EOFError and OSError."""
    size = int.from_bytes(await reader.readexactly(4), "big")
    if size > FRAME_MAX:
        raise StreamBroken(f"a frame of {size} bytes is too long")
    try:
        frame: Frame = _decode(await reader.readexactly(size))
    except msgspec.MsgspecError as error:
        raise StreamBroken(str(error)) from error
    return frame


# --- Proofs -------------------------------------------------------------------------------------------


async def prove_as_server(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: str, token: str
) -> None:
    nonce = secrets.token_bytes(_NONCE_SIZE)
    write_frame(writer, Challenge(nonce))
    theirs = await _proof(reader)
    _require(theirs.code, _code(token, "caller", line, nonce, theirs.nonce))
    write_frame(writer, Proof(b"", _code(token, "holder", line, nonce, theirs.nonce)))


async def prove_as_client(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: str, token: str
) -> None:
    challenge = await read_frame(reader)
    if not isinstance(challenge, Challenge):
        raise StreamBroken("the holder did not begin with a challenge")
    nonce = secrets.token_bytes(_NONCE_SIZE)
    write_frame(writer, Proof(nonce, _code(token, "caller", line, challenge.nonce, nonce)))
    _require((await _proof(reader)).code, _code(token, "holder", line, challenge.nonce, nonce))


async def _proof(reader: asyncio.StreamReader) -> Proof:
    frame = await read_frame(reader)
    if not isinstance(frame, Proof):
        raise StreamBroken("a proof was expected")
    return frame


def _code(token: str, side: str, line: str, *nonces: bytes) -> bytes:
    text = b"\x00".join([side.encode(), line.encode(), *(nonce.hex().encode() for nonce in nonces)])
    return hmac.digest(token.encode(), text, "sha256")


def _require(found: bytes, expected: bytes) -> None:
    if not hmac.compare_digest(found, expected):
        raise StreamBroken("the other side does not know the token of the line")
