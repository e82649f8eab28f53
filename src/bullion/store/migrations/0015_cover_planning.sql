-- oldest level: 1
-- The contracts that the planner leaves alone for a while: those of covers that were refused or dropped lately.
CREATE INDEX covers_declined ON covers (broker, metal, finished_at_us) WHERE state IN ('refused', 'dropped');
