"""Stand-ins for the market, to try the service without one: a venue that speaks FIX."""
