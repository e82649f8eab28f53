"""Rate limits of keys, accounts and addresses, counted over exact sliding windows."""
