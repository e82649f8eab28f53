"""The way of an order into the book: decided in memory, recorded in shared transactions."""
