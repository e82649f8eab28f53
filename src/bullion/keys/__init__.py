"""API keys: their text, their secrets, their life."""
