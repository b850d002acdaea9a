export { advisoryLock } from "./database/advisory-lock.ts";
export { databaseOptions } from "./database/database-options.ts";
export { isSerializationFailure, isUniqueViolation, toAppError } from "./database/errors.ts";
export { type ListRange, newestFirst, newestFirstOf, rangeValues, type TimePosition } from "./database/list-range.ts";
export { requireTransaction } from "./database/one-statement.ts";
export { openPool, type Pool, type PoolOptions } from "./database/pool.ts";
export { prismaAdapter } from "./database/prisma-adapter.ts";
export { type RetentionRule, startRetention } from "./database/retention.ts";
export { inSession, type Session } from "./database/session.ts";
export { type Queryable, type Rows, type RowsStatement, type Statement, sql, sqlRows } from "./database/statement.ts";
export { type Table, table } from "./database/table.ts";
export { inTransaction, type TransactionOptions, type Tx } from "./database/transaction.ts";
export { unsafeSettings } from "./database/unsafe-settings.ts";
export { type RowWrite, writeRow } from "./database/write-row.ts";
export { type LibraryMigrations, type MigrateOptions, migrate } from "./migrations/migrate.ts";
export {
  type ByteRange,
  ContentMismatch,
  type GetOptions,
  type ObjectContent,
  type ObjectHead,
  type ObjectStore,
  type PutOptions,
  type StoredObject,
  UnsatisfiableRange,
} from "./objects/object-store.ts";
export { type ObjectStoreOptions, openObjectStore } from "./objects/open-object-store.ts";
export { createSealer, SealError, type SealedPlace, type Sealer } from "./sealed/sealer.ts";
