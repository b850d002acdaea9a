#!/bin/sh
# Like the entry point of the image `postgres`: creates the data folder, then serves.
set -eu
data=/var/lib/postgresql/18/docker
as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }

if [ ! -f "$data/PG_VERSION" ]; then
  mkdir -p "$data"
  chown -R postgres:postgres /var/lib/postgresql
  printf '%s' "$POSTGRES_PASSWORD" > /run/password
  chown postgres /run/password
  as_postgres initdb --pgdata="$data" --username="$POSTGRES_USER" --pwfile=/run/password --auth=scram-sha-256 --auth-local=trust > /dev/null
  rm /run/password
  echo "host all all all scram-sha-256" >> "$data/pg_hba.conf"
  as_postgres pg_ctl --pgdata="$data" --options="-c listen_addresses= -c unix_socket_directories=/tmp" --wait start > /dev/null
  export PGHOST=/tmp
  [ "${POSTGRES_DB:-$POSTGRES_USER}" = postgres ] || as_postgres createdb --username="$POSTGRES_USER" --maintenance-db=postgres "${POSTGRES_DB:-$POSTGRES_USER}"
  as_postgres pg_ctl --pgdata="$data" --mode=fast --wait stop > /dev/null
fi
exec setpriv --reuid=postgres --regid=postgres --init-groups postgres -D "$data" -c "listen_addresses=*" -c unix_socket_directories=/tmp,/var/run/postgresql
