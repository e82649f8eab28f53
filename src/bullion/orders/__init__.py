"""An order: what a client asks for, the checks it must pass, and what becomes of it."""
