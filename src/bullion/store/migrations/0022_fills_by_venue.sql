-- oldest level: 1
-- The trades of a day at one venue, for the comparison with its statement: however many there were at others.
CREATE INDEX hedge_fills_by_venue ON hedge_fills (broker, venue, at_us);
DROP INDEX hedge_fills_by_time;
CREATE INDEX cover_fills_by_venue ON cover_fills (broker, venue, at_us);
DROP INDEX cover_fills_by_time;
