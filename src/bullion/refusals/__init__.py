"""All refusals: one table and one exception."""
