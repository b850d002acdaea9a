import { defineProperties } from "@signalbox/runtime";

export { cacheProperties } from "./cache/cache-properties.ts";

/** The database of a service. `database.url` has no default outside the embedded mode. */
export const databaseProperties = defineProperties({
  "database.url": {
    type: "string",
    default: null,
    required: "every service has a database of its own: postgres://user:password@host:5432/database",
    pattern: "^(postgres(ql)?://.+|embedded:.*)$",
    secrecy: "secret",
    reload: "restart",
    local: true,
    effect:
      "Database of the service, created and migrated at start. ?sslmode=verify-full&sslrootcert=<file> for TLS with an authority of your own.",
  },
  "database.pool.max": {
    type: "integer",
    default: 10,
    unit: "connections",
    min: 1,
    max: 200,
    secrecy: "internal",
    reload: "restart",
    effect: "Maximum number of connections of this process; Prisma and raw statements share them.",
  },
  "database.pool.waiting-max": {
    type: "integer",
    default: 500,
    unit: "statements",
    min: 1,
    max: 100_000,
    secrecy: "internal",
    reload: "restart",
    effect: "Maximum number of statements that wait for a connection; further requests are answered 503 at once.",
  },
  "database.connect-timeout": {
    type: "integer",
    default: 5_000,
    unit: "ms",
    min: 100,
    max: 60_000,
    secrecy: "internal",
    reload: "restart",
    effect: "Time that a statement waits for a connection before the database counts as unreachable.",
  },
  "database.statement-timeout": {
    type: "integer",
    default: 15_000,
    unit: "ms",
    min: 100,
    max: 600_000,
    secrecy: "internal",
    reload: "restart",
    effect: "Time after which the server cancels a statement.",
  },
  "database.lock-timeout": {
    type: "integer",
    default: 1_200,
    unit: "ms",
    min: 10,
    max: 600_000,
    secrecy: "internal",
    reload: "restart",
    effect: "Time that a change waits for another change of the same resource before it is answered 503.",
  },
  "database.migrate": {
    type: "boolean",
    default: true,
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect:
      "True when the start migrates the database; false when it waits for the job `migrate`, which has a role of its own.",
  },
  "database.start-wait": {
    type: "integer",
    default: 60_000,
    unit: "ms",
    min: 0,
    max: 600_000,
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect:
      "Time that the start waits for an unreachable database, and then for the migration of another process, before it fails.",
  },
});

/** The object store of uploads, originals and renditions. */
export const blobProperties = defineProperties({
  "blobs.url": {
    type: "string",
    default: "file:.signalbox/blobs",
    pattern: "^(file:.+|s3(\\+http)?://[^/]+/[^/]+.*)$",
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect: "The object store: file:<folder>, or s3://host:port/bucket?region=… (s3+http:// without TLS).",
  },
  "blobs.access-key": {
    type: "string",
    default: null,
    secrecy: "sensitive",
    reload: "restart",
    local: true,
    effect: "The access key id of the object store; not used by file:.",
  },
  "blobs.secret-key": {
    type: "string",
    default: null,
    secrecy: "secret",
    reload: "restart",
    local: true,
    effect: "The secret key of the object store; not used by file:.",
  },
  "blobs.start-wait": {
    type: "integer",
    default: 60_000,
    unit: "ms",
    min: 0,
    max: 600_000,
    secrecy: "internal",
    reload: "restart",
    effect: "Time that the start waits for an unreachable object store before it fails; not used by file:.",
  },
});

/** The keys that seal secrets at rest. */
export const secretsProperties = defineProperties({
  "secrets.keys": {
    type: "list",
    default: null,
    required: "secrets are stored sealed: give at least one key as <id>:<32 bytes in base64>, the writing key first",
    pattern: "^[A-Za-z0-9_-]{1,32}:[A-Za-z0-9+/_-]{43}=?$",
    secrecy: "secret",
    reload: "restart",
    local: true,
    effect:
      "Keys that seal stored secrets: the first one seals, all of them open. Rotate by putting a new one in front.",
  },
});

/** A property for the retention of one kind of rows (see `startRetention`): from a day to a year, by default 30 days. */
export const retentionProperty = (effect: string) =>
  ({
    type: "integer",
    default: 2_592_000_000,
    unit: "ms",
    min: 86_400_000,
    max: 31_536_000_000,
    secrecy: "internal",
    reload: "live",
    effect,
  }) as const;
