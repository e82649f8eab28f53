"""How many calls a key, an account or an address may make, counted over exact sliding windows."""
