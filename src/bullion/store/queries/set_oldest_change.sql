UPDATE catalogue SET oldest_change = $1
