"""The operator's side: what the desk may do, and its faces."""
