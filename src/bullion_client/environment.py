"""The two environments of the service."""

from bullion_client.open_enum import OpenEnum


class Environment(OpenEnum):
    """Where orders go. A key belongs to exactly one environment."""

    TEST = "test"
    """Orders are simulated and nothing is booked."""

    PRODUCTION = "production"
    """Orders are real."""
