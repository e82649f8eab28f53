SELECT broker, host FROM broker_hosts WHERE broker = $1 ORDER BY host
