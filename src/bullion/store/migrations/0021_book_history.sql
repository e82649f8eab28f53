-- oldest level: 1
-- What a cover was planned from, so that a plan can be checked later: the book's last entry, the time, and as JSON what
-- waited, what was under way and which node planned. Null for a cover that a dealer made, or that is older than this step.
ALTER TABLE covers ADD COLUMN planned_after BIGINT;

ALTER TABLE covers ADD COLUMN planned_at_us BIGINT;

ALTER TABLE covers ADD COLUMN plan TEXT;

CREATE INDEX covers_planned ON covers (broker, metal, planned_after) WHERE planned_after IS NOT NULL;

-- Until when the node that asks the venue for a cover may be doing so. Null: no node is.
ALTER TABLE covers ADD COLUMN claimed_until_us BIGINT;

-- The dealer who settled by hand a cover that the venue did not answer.
ALTER TABLE covers ADD COLUMN settled_by TEXT;

-- The terms of each book, from the entry after `after_ordinal` on. No release that keeps a book is older than this step.
CREATE TABLE book_terms (
    broker TEXT NOT NULL,
    metal TEXT NOT NULL,
    after_ordinal BIGINT NOT NULL CHECK (after_ordinal >= 1),
    policy TEXT NOT NULL,
    limit_mg BIGINT NOT NULL,
    PRIMARY KEY (broker, metal, after_ordinal)
);

INSERT INTO book_terms (broker, metal, after_ordinal, policy, limit_mg)
SELECT broker, metal, version, policy, limit_mg FROM book_positions;
