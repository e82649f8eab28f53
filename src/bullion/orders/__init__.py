"""Orders: the request, the checks, prices, states and traces."""
