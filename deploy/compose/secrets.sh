#!/bin/sh
# Makes the secrets of compose.yaml in the folder `secrets` beside it. Leaves those that are there as they are.
# The folder is for its owner alone. The files are readable: the users in the containers have other numbers.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
umask 022
random() { head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
keep() { [ -e "secrets/$1" ] || printf '%s\n' "$2" > "secrets/$1"; }
keep bullion_secret "$(random)"
keep bullion_desk_token "$(random)"
keep postgres_password "$(random)"
keep grafana_password "$(random)"
keep bullion_database_url "postgresql://bullion_service:$(cat secrets/postgres_password)@postgres/bullion"
keep bullion_redis_url redis://redis:6379/0
