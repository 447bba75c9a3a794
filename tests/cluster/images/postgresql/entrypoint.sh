#!/bin/sh
# Creates a database as the official image does, then starts the server. Variables:
# POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE, POSTGRES_USER, POSTGRES_DB, PGDATA. Scripts in
# /docker-entrypoint-initdb.d are sourced before the first start.
set -eu
umask 077
case ${1:-} in '' | -*) set -- postgres "$@" ;; esac
if [ "$1" != postgres ] || [ -s "$PGDATA/PG_VERSION" ]; then exec "$@"; fi

user=${POSTGRES_USER:-postgres}
database=${POSTGRES_DB:-$user}
password=${POSTGRES_PASSWORD:-$(cat "${POSTGRES_PASSWORD_FILE:-/dev/null}")}
unset POSTGRES_PASSWORD
if [ -z "$password" ]; then
  echo "a new database needs a password: set POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE" >&2
  exit 1
fi

file=$(mktemp)
printf '%s\n' "$password" >"$file"
# Text is sorted by language, as in the official image, and not by bytes.
initdb --pgdata="$PGDATA" --username="$user" --pwfile="$file" --auth-local=trust \
  --auth-host=scram-sha-256 --encoding=UTF8 --locale-provider=icu --icu-locale=en-US
rm "$file"
echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
if [ "$database" != postgres ]; then
  printf 'CREATE DATABASE "%s"\n' "$(printf %s "$database" | sed 's/"/""/g')" |
    postgres --single -c exit_on_error=on -D "$PGDATA" postgres >/dev/null
fi
for script in /docker-entrypoint-initdb.d/*.sh; do
  # shellcheck source=/dev/null
  if [ -f "$script" ]; then . "$script"; fi
done
exec "$@"
