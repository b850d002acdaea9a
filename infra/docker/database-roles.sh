#!/bin/sh
# Run once by the PostgreSQL container, while its data folder is new: a database for each service, and who may do what there.
# A service reads and writes rows. Tables belong to an owner nobody signs in as, whom only the job `migrate` may become.
set -eu

sql() {
  database="$1"
  shift
  psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$database" "$@"
}

sql postgres --set password="$MIGRATE_DATABASE_PASSWORD" <<'SQL'
create role signalbox_migrate login password :'password';
SQL

# Who tells Prometheus how the server is: statistics, and no rows.
sql postgres --set password="$EXPORTER_DATABASE_PASSWORD" <<'SQL'
create role signalbox_exporter login password :'password' connection limit 5 in role pg_monitor;
SQL

for service in account config images webhook_delivery webhook_ingest; do
  eval "password=\$$(echo "$service" | tr '[:lower:]' '[:upper:]')_DATABASE_PASSWORD"
  name="signalbox_$service"
  sql postgres --set name="$name" --set owner="${name}_owner" --set password="$password" <<'SQL'
create role :"owner" nologin;
create role :"name" login password :'password';
grant :"owner" to signalbox_migrate;
create database :"name" owner :"owner" template template0;
revoke all on database :"name" from public;
grant connect on database :"name" to :"name", signalbox_migrate;
alter role signalbox_migrate in database :"name" set role to :'owner';
SQL
  sql "$name" --set name="$name" --set owner="${name}_owner" <<'SQL'
revoke all on schema public from public;
grant usage on schema public to :"name";
alter default privileges for role :"owner" grant usage on schemas to :"name";
alter default privileges for role :"owner" grant select, insert, update, delete on tables to :"name";
alter default privileges for role :"owner" grant usage, select on sequences to :"name";
SQL
done

# These make a table for each day of their records and drop it again, so each acts as the owner in its own database.
for service in account webhook_delivery webhook_ingest; do
  name="signalbox_$service"
  sql postgres --set name="$name" --set owner="${name}_owner" <<'SQL'
grant :"owner" to :"name";
alter role :"name" in database :"name" set role to :'owner';
SQL
done
