"""The weight allocation: positions, and whether an order may pass."""
