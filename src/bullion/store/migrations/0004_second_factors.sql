-- oldest level: 1
-- Second factors of the desk's users: one-time codes (TOTP) with recovery codes. The secret is encrypted with a key that
-- follows from the deployment's secret, which secret_id names. A code that was used is not accepted again: last_step.
CREATE TABLE second_factors (
    user_id TEXT PRIMARY KEY,
    encrypted_secret TEXT NOT NULL,
    secret_id TEXT NOT NULL,
    created_at_us BIGINT NOT NULL,
    confirmed_at_us BIGINT,
    last_step BIGINT NOT NULL
);

CREATE TABLE recovery_codes (
    user_id TEXT NOT NULL REFERENCES second_factors (user_id),
    code_hash TEXT NOT NULL CHECK (length(code_hash) = 64),
    PRIMARY KEY (user_id, code_hash)
);

-- Who needs a second factor in the console.
CREATE TABLE second_factor_rules (
    broker TEXT PRIMARY KEY REFERENCES brokers (tag),
    required TEXT NOT NULL CHECK (required IN ('off', 'admins', 'all'))
);

ALTER TABLE desk_sessions ADD COLUMN second_factor BIGINT NOT NULL DEFAULT 0 CHECK (second_factor IN (0, 1));
