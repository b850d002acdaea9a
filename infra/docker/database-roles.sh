#!/bin/sh
# Creates missing databases and roles for each service; PGHOST, PGUSER and PGPASSWORD name the server and its
# administrator. A service reads and writes rows. Tables belong to an owner without sign-in, which only the job
# `migrate` may become. An existing password stays: it may be in rotation.
set -eu
export PGOPTIONS="--client-min-messages=warning"

sql() {
  database="$1"
  shift
  psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --dbname "$database" "$@"
}

# Takes a name and a password, and passes it on where no process list shows it.
role() {
  PASSWORD="$2" sql postgres --set name="$1" <<'SQL'
\getenv password PASSWORD
select format('create role %I login password %L', :'name', :'password')
where not exists (select from pg_roles where rolname = :'name') \gexec
SQL
}

role signalbox_migrate "$MIGRATE_DATABASE_PASSWORD"

# For Prometheus: statistics of the server, and no rows.
role signalbox_exporter "$EXPORTER_DATABASE_PASSWORD"
sql postgres <<'SQL'
alter role signalbox_exporter connection limit 5;
grant pg_monitor to signalbox_exporter;
SQL

# For the check of backups: it makes databases of its own, restores one into them and drops them again.
role signalbox_backup "$BACKUP_DATABASE_PASSWORD"
sql postgres <<'SQL'
alter role signalbox_backup createdb connection limit 5;
SQL

for service in account config images webhook_delivery webhook_ingest; do
  eval "password=\$$(echo "$service" | tr '[:lower:]' '[:upper:]')_DATABASE_PASSWORD"
  name="signalbox_$service"
  role "$name" "$password"
  sql postgres --set name="$name" --set owner="${name}_owner" <<'SQL'
select format('create role %I nologin', :'owner') where not exists (select from pg_roles where rolname = :'owner') \gexec
grant :"owner" to signalbox_migrate;
select format('create database %I owner %I template template0', :'name', :'owner')
where not exists (select from pg_database where datname = :'name') \gexec
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

# These create a table for each day of their records and drop it again, so each acts as the owner in its own database.
for service in account webhook_delivery webhook_ingest; do
  name="signalbox_$service"
  sql postgres --set name="$name" --set owner="${name}_owner" <<'SQL'
grant :"owner" to :"name";
alter role :"name" in database :"name" set role to :'owner';
SQL
done
