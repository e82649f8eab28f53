"""API keys: their text, hashing and verification."""
