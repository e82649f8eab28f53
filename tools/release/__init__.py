"""A release: what is built from this checkout, tried, described, and handed out."""
