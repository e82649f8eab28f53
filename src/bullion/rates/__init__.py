"""Live rates: ticks, the board with the newest ticks, and the prices computed from them."""
