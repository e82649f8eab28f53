"""What happened to an account: its events, their numbers, and waiting for them."""
