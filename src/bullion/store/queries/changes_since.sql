SELECT DISTINCT kind, broker, subject FROM changes WHERE version > $1
