"""The clients' HTTP interface."""
