-- oldest level: 1
-- For the desk's list of covers by state.
CREATE INDEX covers_by_state ON covers (broker, state, created_at_us, id);
