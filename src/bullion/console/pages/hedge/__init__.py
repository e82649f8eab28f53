"""The hedge: the book of each metal, covers and contracts, lines to venues, and sources of rates."""
