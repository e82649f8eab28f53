DELETE FROM broker_hosts WHERE broker = $1
