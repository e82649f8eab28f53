-- oldest level: 1
-- What the process that holds a line says about it, as JSON, for the desk and its consoles.
CREATE TABLE line_states (
    line TEXT PRIMARY KEY CHECK (length(line) BETWEEN 1 AND 64),
    broker TEXT NOT NULL,
    at_us BIGINT NOT NULL,
    report TEXT NOT NULL
);

-- What the desk asks of a line: whether it may be connected, and since when. A logon that begins both numbers anew was
-- asked for at reset_at_us; it was made if that is not after reset_done_us.
CREATE TABLE line_wishes (
    line TEXT PRIMARY KEY CHECK (length(line) BETWEEN 1 AND 64),
    connected BIGINT NOT NULL CHECK (connected IN (0, 1)),
    at_us BIGINT NOT NULL,
    reset_at_us BIGINT NOT NULL DEFAULT 0,
    reset_done_us BIGINT NOT NULL DEFAULT 0
);
