INSERT INTO deals (broker, last_deal_no)
VALUES ($1, 1)
ON CONFLICT (broker) DO UPDATE SET last_deal_no = deals.last_deal_no + 1
RETURNING last_deal_no
