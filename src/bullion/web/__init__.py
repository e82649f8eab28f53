"""The parts that all ports share: the HTTP connection, the router, the base application and the response."""
