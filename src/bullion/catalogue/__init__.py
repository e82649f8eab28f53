"""What every node keeps in memory of the store, so that a valid call needs no look-up."""
