"""The demos: a broker with clients and keys, and the same broker on a market of its own."""
