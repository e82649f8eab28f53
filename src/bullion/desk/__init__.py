"""The operator's desk: its actions, authentication, roles and audit entries."""
