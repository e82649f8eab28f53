"""What a process keeps in memory for the desk's reads over all accounts."""

from .account_names import AccountNames
from .engine import Engine
from .order_timeline import OrderTimeline


class Kept:
    def __init__(self, engine: Engine) -> None:
        self.timeline = OrderTimeline(engine)
        self.names = AccountNames()
