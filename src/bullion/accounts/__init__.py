"""Brokers, their clients' accounts, trading groups, and the broker's switches."""
