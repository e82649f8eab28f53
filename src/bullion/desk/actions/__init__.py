"""The actions of the desk, which the HTTP interface, the command line and the console share."""
