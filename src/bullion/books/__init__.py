"""The books: whether everything that the store keeps beside the orders is what the orders give."""
