"""Processes that answer at the same two ports, and whoever watches over them."""
