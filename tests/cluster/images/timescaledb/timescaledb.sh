# Sourced by the entrypoint of PostgreSQL's image once the database is created.
echo "shared_preload_libraries = 'timescaledb'" >>"$PGDATA/postgresql.conf"
pg_ctl --wait --pgdata="$PGDATA" --options="-c listen_addresses=''" start >&2
psql --username="$user" --dbname="$database" --command='CREATE EXTENSION timescaledb' >&2
pg_ctl --wait --pgdata="$PGDATA" stop >&2
