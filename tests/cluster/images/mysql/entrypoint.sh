#!/bin/sh
# Creates a database as the official image does, then starts the server. Variables:
# MYSQL_ROOT_PASSWORD, MYSQL_DATABASE, MYSQL_USER, MYSQL_PASSWORD; all are required here.
set -eu
umask 077
case ${1:-} in '' | -*) set -- mysqld "$@" ;; esac
data=/var/lib/mysql
if [ "$1" != mysqld ] || [ -f "$data/complete" ]; then exec "$@"; fi

quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/\\\\/\\\\\\\\/g; s/'/''/g")"; }
named() { printf '`%s`' "$(printf %s "$1" | sed 's/`/``/g')"; }

file=$(mktemp)
cat >"$file" <<SQL
ALTER USER 'root'@'localhost' IDENTIFIED BY $(quoted "$MYSQL_ROOT_PASSWORD");
CREATE DATABASE $(named "$MYSQL_DATABASE");
CREATE USER $(quoted "$MYSQL_USER")@'%' IDENTIFIED BY $(quoted "$MYSQL_PASSWORD");
GRANT ALL ON $(named "$MYSQL_DATABASE").* TO $(quoted "$MYSQL_USER")@'%';
SQL
mysqld --initialize-insecure --init-file="$file" >&2
rm "$file"
touch "$data/complete"
exec "$@"
