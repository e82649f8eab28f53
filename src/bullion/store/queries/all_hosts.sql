SELECT broker, host FROM broker_hosts ORDER BY broker, host
