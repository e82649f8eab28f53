"""The kit's own version: it is distributed apart from the service."""

__version__ = "0.1.0"
