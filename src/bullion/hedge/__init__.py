"""The hedge: where the broker covers its clients' orders before they become deals.

The port and its adapters; who speaks to the venue, and when, is in `bullion.booking.hedging`.
"""
