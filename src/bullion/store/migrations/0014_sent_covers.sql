-- oldest level: 1
-- The market's price when a cover was sent, and what a dollar cost then (0 for a contract in rupees). Written before the
-- cover is submitted for the first time: while they are null, the venue cannot have it.
ALTER TABLE covers ADD COLUMN reference_e6 BIGINT;

ALTER TABLE covers ADD COLUMN dollar_e6 BIGINT;

-- Which venue it was sent to, by its name in the settings. No other venue is asked for it.
ALTER TABLE covers ADD COLUMN sent_to TEXT;
