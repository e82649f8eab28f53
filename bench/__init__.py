"""Speed, measured as ratios of one run: `make bench`."""
