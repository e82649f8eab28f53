-- oldest level: 1
-- Lines to venues over FIX. One process at a time holds a line, until until_us unless it renews it; the others call it
-- at its address, and both prove to each other that they know the token. connection_no counts the connections that
-- were ever begun. No outgoing number from `outgoing` on was used; all messages below `incoming` were recorded.
-- stored_us is when numbers were last stored, if the line keeps them.
CREATE TABLE fix_lines (
    name TEXT PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 64),
    holder TEXT NOT NULL,
    until_us BIGINT NOT NULL,
    address TEXT NOT NULL,
    token TEXT NOT NULL,
    connection_no BIGINT NOT NULL CHECK (connection_no >= 0),
    outgoing BIGINT NOT NULL CHECK (outgoing >= 1),
    incoming BIGINT NOT NULL CHECK (incoming >= 1),
    stored_us BIGINT
);
