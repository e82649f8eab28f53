"""Every way a call can be refused: one table, one exception."""
