"""Counterparties for trials on one machine, each a process of its own: a FIX venue and a quote server."""
