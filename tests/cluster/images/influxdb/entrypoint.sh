#!/bin/sh
# Sets the server up as the official image does, then starts it. Variables:
# DOCKER_INFLUXDB_INIT_MODE=setup, _ORG, _BUCKET, _USERNAME, _PASSWORD, _ADMIN_TOKEN.
set -eu
umask 077
case ${1:-} in '' | -*) set -- influxd "$@" ;; esac
if [ "$1" != influxd ] || [ -f "$INFLUXD_BOLT_PATH" ] ||
  [ "${DOCKER_INFLUXDB_INIT_MODE:-}" != setup ]; then exec "$@"; fi

quoted() { printf '"%s"' "$(printf %s "$1" | sed 's/[\\"]/\\&/g')"; }

# The server of a first start listens on another port, so that nobody else sets it up.
url=http://127.0.0.1:9999
influxd --http-bind-address=127.0.0.1:9999 >&2 &
first=$!
until curl --silent --fail "$url/health" >/dev/null; do
  kill -0 "$first" || exit 1
  sleep 1
done
curl --silent --show-error --fail --output /dev/null --data @- "$url/api/v2/setup" <<JSON
{"org": $(quoted "$DOCKER_INFLUXDB_INIT_ORG"),
 "bucket": $(quoted "$DOCKER_INFLUXDB_INIT_BUCKET"),
 "username": $(quoted "$DOCKER_INFLUXDB_INIT_USERNAME"),
 "password": $(quoted "$DOCKER_INFLUXDB_INIT_PASSWORD"),
 "token": $(quoted "$DOCKER_INFLUXDB_INIT_ADMIN_TOKEN")}
JSON
kill "$first"
wait "$first" || true
exec "$@"
