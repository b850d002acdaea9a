import { defineProperties, property } from "@signalbox/runtime";

export { cacheProperties } from "./cache/cache-properties.ts";
export { databaseProperties } from "./database/database-properties.ts";

/** The object store of uploads, originals and renditions. */
export const blobProperties = defineProperties({
  "blobs.url": property.string(
    { default: "file:.signalbox/blobs", pattern: "^(file:.+|s3(\\+http)?://[^/]+/[^/]+.*)$", local: true },
    "The object store: file:<folder>, or s3://host:port/bucket?region=… (s3+http:// without TLS).",
  ),
  "blobs.access-key": property.string(
    { default: null, secrecy: "sensitive", local: true },
    "The access key id of the object store; not used by file:.",
  ),
  "blobs.secret-key": property.string(
    { default: null, secrecy: "secret", local: true },
    "The secret key of the object store; not used by file:.",
  ),
  "blobs.start-wait": property.integer(
    { default: 60_000, unit: "ms", min: 0, max: 600_000 },
    "Time that the start waits for an unreachable object store before it fails; not used by file:.",
  ),
});

/** The keys that seal secrets at rest. */
export const secretsProperties = defineProperties({
  "secrets.keys": property.list(
    {
      default: null,
      required:
        "secrets are stored encrypted: set at least one key as <id>:<32 bytes in base64>, the encrypting key first",
      pattern: "^[A-Za-z0-9_-]{1,32}:[A-Za-z0-9+/_-]{43}=?$",
      secrecy: "secret",
      local: true,
    },
    "Encryption keys of stored secrets: the first one encrypts, all of them decrypt.",
  ),
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
