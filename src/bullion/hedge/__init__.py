"""The hedge: where the broker covers its clients' orders before they become deals."""
