"""The desk's command line: the same actions, for people at a terminal and for scripts."""
