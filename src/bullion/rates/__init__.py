"""Live rates: ticks, the board that holds them, and the prices that are made of them."""
