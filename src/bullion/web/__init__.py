"""What all ports share: the HTTP connection, the router, the request shell, and how an answer is written."""
