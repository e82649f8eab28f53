"""What every node keeps in memory, so that a valid call needs no read of the store."""
