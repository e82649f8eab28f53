"""What each call under `/desk/v1` does: reads the body, calls the action, writes the answer."""
