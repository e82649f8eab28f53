-- oldest level: 1
-- Dollars that the desk bought or sold to close those that covers left open. `number` counts the deals of a book from 1.
-- In the order of the book's entries, a deal comes right after the entry `after_ordinal`. `cents` is above zero for
-- dollars bought.
CREATE TABLE currency_deals (
    broker TEXT NOT NULL,
    metal TEXT NOT NULL CHECK (metal IN ('gold', 'silver')),
    number BIGINT NOT NULL CHECK (number >= 1),
    id TEXT NOT NULL UNIQUE,
    after_ordinal BIGINT NOT NULL CHECK (after_ordinal >= 1),
    cents BIGINT NOT NULL CHECK (cents <> 0),
    rate_e6 BIGINT NOT NULL CHECK (rate_e6 > 0),
    cash_paise BIGINT NOT NULL,
    fee_paise BIGINT NOT NULL CHECK (fee_paise >= 0),
    reference TEXT NOT NULL CHECK (length(reference) BETWEEN 1 AND 64),
    made_by TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    at_us BIGINT NOT NULL,
    PRIMARY KEY (broker, metal, number),
    UNIQUE (broker, idempotency_key)
);
CREATE INDEX currency_deals_by_time ON currency_deals (broker, at_us);

-- An entry of a book names a fill by its execution alone.
CREATE INDEX cover_fills_by_execution ON cover_fills (broker, execution_id);

-- The trades of a day, for the comparison with a venue's statement.
CREATE INDEX cover_fills_by_time ON cover_fills (broker, at_us);
CREATE INDEX hedge_fills_by_time ON hedge_fills (broker, at_us);

CREATE VIEW readable_currency_deals AS
SELECT
    broker, metal, id,
    cents * 0.01 AS dollars,
    rate_e6 * 0.000001 AS rate,
    cash_paise * 0.01 AS cash,
    fee_paise * 0.01 AS fee,
    reference, made_by,
    to_timestamp(at_us / 1000000.0) AS at
FROM currency_deals;
