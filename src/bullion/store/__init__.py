"""Where everything lasting is kept: one set of queries behind a small engine seam."""
