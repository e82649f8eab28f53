"""The public rate page: prices that anybody may see without a key, if the broker shows them."""

from .pages import PublicRatePages

__all__ = ["PublicRatePages"]
