-- oldest level: 1
-- What a broker holds of each contract: the sum of all its fills, above zero for bought. Written with each fill, so that a
-- fill costs the same however many came before. No release that deals covers is older than this step.
CREATE TABLE held_contracts (
    broker TEXT NOT NULL,
    contract TEXT NOT NULL,
    held_e8 BIGINT NOT NULL,
    PRIMARY KEY (broker, contract)
);

INSERT INTO held_contracts (broker, contract, held_e8)
SELECT
    covers.broker, covers.contract,
    CAST(sum(CASE WHEN covers.side = 'buy' THEN fills.quantity_e8 ELSE -fills.quantity_e8 END) AS BIGINT)
FROM cover_fills AS fills
INNER JOIN covers ON covers.id = fills.cover_id
GROUP BY covers.broker, covers.contract;
