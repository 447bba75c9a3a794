#!/bin/sh
# Creates a database as the official image does, then starts the server. Variables:
# MARIADB_ROOT_PASSWORD is required. With MARIADB_ROOT_HOST, root may log in from there;
# MARIADB_DATABASE needs MARIADB_USER and MARIADB_PASSWORD.
set -eu
umask 077
case ${1:-} in '' | -*) set -- mariadbd "$@" ;; esac
data=/var/lib/mysql
if [ "$1" != mariadbd ] || [ -f "$data/complete" ]; then exec "$@"; fi

quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/\\\\/\\\\\\\\/g; s/'/''/g")"; }
named() { printf '`%s`' "$(printf %s "$1" | sed 's/`/``/g')"; }

remote_root() {
  root="'root'@$(quoted "$MARIADB_ROOT_HOST")"
  printf 'CREATE USER %s IDENTIFIED BY %s;\n' "$root" "$(quoted "$MARIADB_ROOT_PASSWORD")"
  printf 'GRANT ALL ON *.* TO %s WITH GRANT OPTION;\n' "$root"
}
application() {
  user="$(quoted "$MARIADB_USER")@'%'" database="$(named "$MARIADB_DATABASE")"
  printf 'CREATE DATABASE %s;\n' "$database"
  printf 'CREATE USER %s IDENTIFIED BY %s;\n' "$user" "$(quoted "$MARIADB_PASSWORD")"
  printf 'GRANT ALL ON %s.* TO %s;\n' "$database" "$user"
}

mariadb-install-db --no-defaults --datadir="$data" --skip-test-db \
  --auth-root-authentication-method=normal >&2
# The server of a first start listens nowhere, so that nobody connects before passwords are set.
mariadbd --no-defaults --datadir="$data" --bootstrap <<SQL
FLUSH PRIVILEGES;
ALTER USER 'root'@'localhost' IDENTIFIED BY $(quoted "$MARIADB_ROOT_PASSWORD");
$([ -z "${MARIADB_ROOT_HOST:-}" ] || remote_root)
$([ -z "${MARIADB_DATABASE:-}" ] || application)
SQL
touch "$data/complete"
exec "$@"
