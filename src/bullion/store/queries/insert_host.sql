INSERT INTO broker_hosts (host, broker) VALUES ($1, $2)
