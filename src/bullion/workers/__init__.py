"""Worker processes that serve the same two ports, and the process that starts and replaces them."""
