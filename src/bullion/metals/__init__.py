"""Gold and silver, their weights and money, and the symbols they are traded under."""
