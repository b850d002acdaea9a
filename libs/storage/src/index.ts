export type { Cache } from "./cache/cache.ts";
export { Copies } from "./cache/copies.ts";
export { cacheOptions, openCache } from "./cache/open-cache.ts";
export { createRateLimiters, type RateLimiter, type RateLimiters, type RateLimitPolicy } from "./cache/rate-limiter.ts";
export { advisoryLock, advisoryLocks } from "./database/advisory-lock.ts";
export { atStart } from "./database/at-start.ts";
export { type BinaryColumn, binaryColumnsOf } from "./database/binary-columns.ts";
export { databaseOptions } from "./database/database-options.ts";
export {
  createDayTables,
  type DayTable,
  dayMs,
  type Stretch,
  startOfDay,
  stretchesBack,
  tableOfDay,
} from "./database/day-tables.ts";
export { toAppError } from "./database/errors.ts";
export { GroupCommit } from "./database/group-commit.ts";
export {
  containing,
  type ListRange,
  newestFirst,
  newestFirstOf,
  ofEachParent,
  rangeValues,
  type TimePosition,
} from "./database/list-range.ts";
export { committingAtOnce, requireTransaction } from "./database/one-statement.ts";
export { openPool, type Pool } from "./database/pool.ts";
export { changedRows, columnsOf, type Queryable, type Statement, sql, sqlRows } from "./database/prepared-statement.ts";
export { isGone, type Presence, showPresence, startPresence } from "./database/presence.ts";
export { prismaAdapter } from "./database/prisma-adapter.ts";
export { type RetentionRule, startRetention } from "./database/retention.ts";
export { isLive, keepValues, olderAfter, type RotatingValue, rotate, viewValue } from "./database/rotation.ts";
export { inSession } from "./database/session.ts";
export { type Table, table } from "./database/table.ts";
export { inTransaction, type Tx } from "./database/transaction.ts";
export { unsafeSettings } from "./database/unsafe-settings.ts";
export { type RowWrite, writeRow } from "./database/write-row.ts";
export { connectWhenThere } from "./migrations/connect-when-there.ts";
export { type LibraryMigrations, migrate } from "./migrations/migrate.ts";
export { DatabaseTooOldError, oldestVersion } from "./migrations/migration-history.ts";
export { type ObjectFiles, openObjectFiles } from "./objects/object-files.ts";
export type { ObjectStore } from "./objects/object-store.ts";
export { openObjectStore } from "./objects/open-object-store.ts";
export { openPrivateDirectory } from "./objects/private-directory.ts";
export { S3Refusal } from "./objects/s3-connection.ts";
export { type SealedColumn, startResealing } from "./sealed/resealing.ts";
export { createSealer, SealError, type SealedPlace, type Sealer } from "./sealed/sealer.ts";
export { isOfService, type SigningKey, SigningKeyStore, sealedSigningKeys } from "./sealed/signing-key-store.ts";
