"""The catalogue: what every node caches, so that a valid call needs no read of the store."""
