"""An authenticated call, as its endpoint gets it."""

from collections.abc import Mapping

import msgspec

from bullion.web.calls import Call
from bullion.web.headers import HeaderValues
from bullion.web.response import Receive
from bullion.web.response import Scope as AsgiScope

from .gate import Caller


class Request(msgspec.Struct):
    call: Call
    caller: Caller
    scope: AsgiScope
    receive: Receive
    headers: HeaderValues = {}
    params: Mapping[str, str] = {}
    """The parameters of the path, by name."""
