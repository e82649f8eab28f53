"""The hedge: the venue where the broker covers its clients' orders before they become deals.

This room has the port and its adapters; `bullion.booking.hedging` calls them.
"""
