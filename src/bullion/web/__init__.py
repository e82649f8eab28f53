"""The ground both ports stand on: the HTTP connection, the caller's address, and how an answer is written."""
