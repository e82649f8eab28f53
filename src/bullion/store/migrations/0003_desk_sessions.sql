-- oldest level: 1
-- Sessions of the console, so that they survive its restart and several consoles share them. The browser has the
-- session's id; here is its hash alone. The user is a desk token, or 'first' for the deployment's first token.
CREATE TABLE desk_sessions (
    session_hash TEXT PRIMARY KEY CHECK (length(session_hash) = 64),
    user_id TEXT NOT NULL,
    broker TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('viewer', 'dealer', 'admin')),
    first_token_hash TEXT,
    created_at_us BIGINT NOT NULL,
    used_at_us BIGINT NOT NULL,
    expires_at_us BIGINT NOT NULL CHECK (expires_at_us > created_at_us),
    idle_us BIGINT NOT NULL CHECK (idle_us > 0),
    CHECK ((user_id = 'first') = (first_token_hash IS NOT NULL))
);
CREATE INDEX desk_sessions_by_user ON desk_sessions (user_id, used_at_us);

CREATE TABLE token_uses (
    token_id TEXT PRIMARY KEY REFERENCES tokens (token_id),
    used_at_us BIGINT NOT NULL
);
