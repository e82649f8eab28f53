"""Maintenance commands of a store: verify its books, back it up, restore it, move it."""
