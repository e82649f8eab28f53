"""The values that the desk reads and changes: accounts, orders, hedges, tokens and the audit trail."""
