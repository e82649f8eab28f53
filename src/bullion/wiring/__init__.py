"""Where the rooms are tied together: the only room that knows which adapter stands behind which port."""
