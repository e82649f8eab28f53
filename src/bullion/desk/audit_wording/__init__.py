"""How the audit trail tells its entries, by what they are about."""
