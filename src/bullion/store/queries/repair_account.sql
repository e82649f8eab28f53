-- Of an account that cannot be read. What the desk says of it is written by `update_account`.
UPDATE accounts SET created_at_us = $3 WHERE broker = $1 AND login_id = $2
