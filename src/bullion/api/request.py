"""An authenticated call, as its endpoint gets it."""

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
    order_id: str
    """From the path; empty if the path has none."""
    header_lines: bytes
    """Header lines to add to the response. The endpoint may append to them."""
    webhook_id: str = ""
    """From the path; empty if the path has none."""
