"""The desk's HTTP interface: tokens, roles and the actions under `/desk/v1`."""
