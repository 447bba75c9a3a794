#!/bin/sh
# Creates a database as the official image does, then starts the server. Variables:
# MARIADB_ROOT_PASSWORD, MARIADB_DATABASE, MARIADB_USER, MARIADB_PASSWORD; all are required here.
set -eu
umask 077
case ${1:-} in '' | -*) set -- mariadbd "$@" ;; esac
data=/var/lib/mysql
if [ "$1" != mariadbd ] || [ -f "$data/complete" ]; then exec "$@"; fi

quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/\\\\/\\\\\\\\/g; s/'/''/g")"; }
named() { printf '`%s`' "$(printf %s "$1" | sed 's/`/``/g')"; }

mariadb-install-db --no-defaults --datadir="$data" --skip-test-db \
  --auth-root-authentication-method=normal >&2
# The server of a first start listens nowhere, so that nobody connects before passwords are set.
mariadbd --no-defaults --datadir="$data" --bootstrap <<SQL
FLUSH PRIVILEGES;
ALTER USER 'root'@'localhost' IDENTIFIED BY $(quoted "$MARIADB_ROOT_PASSWORD");
CREATE DATABASE $(named "$MARIADB_DATABASE");
CREATE USER $(quoted "$MARIADB_USER")@'%' IDENTIFIED BY $(quoted "$MARIADB_PASSWORD");
GRANT ALL ON $(named "$MARIADB_DATABASE").* TO $(quoted "$MARIADB_USER")@'%';
SQL
touch "$data/complete"
exec "$@"
