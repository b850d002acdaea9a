import { defineProperties, property } from "@signalbox/runtime";

/** The database of a service. `database.url` has no default outside the embedded mode. */
export const databaseProperties = defineProperties({
  "database.url": property.string(
    {
      default: null,
      required: "every service has a database of its own: postgres://user:password@host:5432/database",
      pattern: "^(postgres(ql)?://.+|embedded:.*)$",
      secrecy: "secret",
      local: true,
    },
    "Database of the service, created and migrated at start. Add ?sslmode=verify-full&sslrootcert=<file> for TLS with your own certificate authority.",
  ),
  "database.pool.max": property.integer(
    { default: 10, unit: "connections", min: 1, max: 200 },
    "Connections of this process; Prisma and raw statements share them.",
  ),
  "database.pool.waiting-max": property.integer(
    { default: 500, unit: "statements", min: 1, max: 100_000 },
    "Statements that may wait for a connection; further requests get 503 at once.",
  ),
  "database.connect-timeout": property.integer(
    { default: 5_000, unit: "ms", min: 100, max: 60_000 },
    "Time that a statement waits for a connection before the database counts as unreachable.",
  ),
  "database.statement-timeout": property.integer(
    { default: 15_000, unit: "ms", min: 100, max: 600_000 },
    "Time after which the server cancels a statement.",
  ),
  "database.lock-timeout": property.integer(
    { default: 1_200, unit: "ms", min: 10, max: 600_000 },
    "Time that a change waits for another change of the same resource before it is answered 503.",
  ),
  "database.migrate": property.boolean(
    { default: true, local: true },
    "True migrates the database at the start; false waits for the job `migrate`.",
  ),
  "database.start-wait": property.integer(
    { default: 60_000, unit: "ms", min: 0, max: 600_000, local: true },
    "Time that the start waits for an unreachable database or the migration of another process before it fails.",
  ),
});
