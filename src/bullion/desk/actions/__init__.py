"""What the desk may do. The HTTP interface, the command line and the console are faces of these actions."""
