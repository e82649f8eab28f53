"""What ends a bench."""


class CallFailed(Exception):
    """Figures of a server that fails are worth nothing. The message is the sentence to show."""
