"""A call that the gate let through, on its way to its endpoint."""

import msgspec

from bullion.web.calls import Call
from bullion.web.response import Receive
from bullion.web.response import Scope as AsgiScope

from .gate import Caller


class Request(msgspec.Struct):
    call: Call
    caller: Caller
    scope: AsgiScope
    receive: Receive
    item: str
    """The last part of the path, where the endpoint is one thing out of many."""
    more: bytes
    """Lines of headers of the answer beside its own; the endpoint may add some."""
