"""The client's own version: it is distributed apart from the service, and the User-Agent names it."""

__version__ = "0.1.0"
