"""What the venue says about its instruments: SecurityStatus, TradingSessionStatus and SecurityList."""

from bullion.hedge.venue import Tradeability

from .codec import Message, WrongGroup

MARKET_TYPES = frozenset("fhy")
"""The types of these messages."""
_SECURITY = {
    **dict.fromkeys(("2", "18", "19", "21"), Tradeability.SUSPENDED),  # halted, not available, not traded
    **dict.fromkeys(("3", "17", "22", "23"), Tradeability.TRADABLE),  # resumed, ready to trade
}
_SESSION = {"1": Tradeability.SUSPENDED, "2": Tradeability.TRADABLE, "3": Tradeability.SUSPENDED,
            "4": Tradeability.SUSPENDED, "5": Tradeability.TRADABLE}  # fmt: skip


class MarketStatus:
    """A venue that says nothing trades everything: its refusals say the rest."""

    def __init__(self) -> None:
        self._session = Tradeability.TRADABLE
        self._symbols: dict[str, Tradeability] = {}
        self._listed: set[str] | None = None

    def clear(self) -> None:
        """A new connection: the venue says it again."""
        self.__init__()  # type: ignore[misc]

    def note(self, message: Message) -> None:
        if message.type == "f":
            symbol = message.get(55) or message.get(48) or ""
            self._symbols[symbol] = _SECURITY.get(message.get(326) or "", Tradeability.UNKNOWN)
        elif message.type == "h":
            self._session = _SESSION.get(message.get(340) or "", Tradeability.UNKNOWN)
        elif message.type == "y":
            try:
                listed = {each.get(55) or "" for each in message.groups(146, 55)}
            except WrongGroup:
                return
            self._listed = (self._listed or set()) | listed

    def tradeability(self, symbol: str) -> Tradeability:
        if self._session is not Tradeability.TRADABLE:
            return self._session
        if self._listed is not None and symbol not in self._listed:
            return Tradeability.SUSPENDED
        return self._symbols.get(symbol, Tradeability.TRADABLE)
