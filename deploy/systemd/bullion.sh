#!/bin/sh
# Runs a bullion command as the service's user, with the settings and secrets of the service. For root.
# PROGRAM names the program of another version, for example to migrate the store before an upgrade.
set -eu
program=${PROGRAM:-/opt/bullion/bin/bullion}
cd /var/lib/bullion
set -a
[ ! -f /etc/bullion/bullion.env ] || . /etc/bullion/bullion.env
BULLION_SECRET=$(cat /etc/bullion/credentials/secret)
BULLION_DATABASE_URL=$(cat /etc/bullion/credentials/database-url)
[ ! -f /etc/bullion/credentials/redis-url ] || BULLION_REDIS_URL=$(cat /etc/bullion/credentials/redis-url)
exec runuser -u bullion -- "$program" "$@"
