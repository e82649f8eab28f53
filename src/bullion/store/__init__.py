"""Everything durable: one set of queries behind a small engine interface."""
