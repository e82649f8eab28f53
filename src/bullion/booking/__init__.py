"""Books orders: they are decided in memory and recorded in shared transactions."""
