import type { Logger } from "@signalbox/telemetry";

/** The SQL files of a library, applied to the schema `signalbox` of every database that uses it. */
export interface LibraryMigrations {
  readonly library: string;
  /** Folder with `<number>_<slug>.sql` files, applied in the order of their names. */
  readonly directory: string;
}

export interface MigrateOptions {
  /** Of the service's own database, which is created if it is absent. */
  readonly url: string;
  readonly service: string;
  /** Folder with `schema.prisma` and `migrations/`; null for a database without one. */
  readonly prismaDirectory: string | null;
  readonly libraryMigrations: readonly LibraryMigrations[];
  readonly log: Logger;
  /** How long an absent engine is waited for. Default 60 s. */
  readonly waitMs?: number;
}

export declare function migrate(options: MigrateOptions): Promise<void>;
