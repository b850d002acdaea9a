import { openPool, type Pool, sql } from "@signalbox/storage";
import { commandTelemetry } from "../kafka/engine-url.ts";
import type { Manifest } from "./manifest.ts";
import type { OwnedDatabase } from "./open-engines.ts";

/** Times at which the checksums of a backup were found right, and its databases restored for a check. */
export interface Check {
  readonly verifiedAt: Date;
  readonly restoredAt: Date | null;
}

const add = sql(
  "",
  `insert into backups (name, taken_at, release, bytes) values ($1, $2, $3, $4)
   on conflict (name) do update set (taken_at, release, bytes, verified_at, restored_at)
     = (excluded.taken_at, excluded.release, excluded.bytes, null, null)`,
);
const noteCheck = sql("", "update backups set verified_at = $2, restored_at = $3 where name = $1");
const listVerified = sql("", "select name from backups where verified_at is not null");
const remove = sql("", "delete from backups where name = $1");

/** Opens a pool of one connection, which its user closes. */
export const openBackupPool = (url: string, limits: { readonly statementTimeoutMs?: number } = {}): Pool =>
  openPool({
    url,
    max: 1,
    applicationName: "signalbox backup",
    ...limits,
    ...commandTelemetry(),
    runner: { defer: () => {} },
  });

export type BackupRecords = ReturnType<typeof openBackupRecords>;

/**
 * Opens the list of backups in the database of config, from which `GET /api/v1/operations/backups` and the metric of
 * their age come: no service sees the disk of the backups.
 */
export function openBackupRecords({ url }: Pick<OwnedDatabase, "url">) {
  const pool = openBackupPool(url);

  return {
    /** Notes a backup that is not checked yet. */
    add: async (name: string, { takenAt, release }: Manifest, bytes: number): Promise<void> =>
      void (await pool.query(add, [name, takenAt, release, bytes])),

    noteCheck: async (name: string, { verifiedAt, restoredAt }: Check): Promise<void> =>
      void (await pool.query(noteCheck, [name, verifiedAt, restoredAt])),

    /** Names those that were found whole. */
    async verified(): Promise<ReadonlySet<string>> {
      return new Set((await pool.query<{ name: string }>(listVerified)).rows.map(({ name }) => name));
    },

    remove: async (name: string): Promise<void> => void (await pool.query(remove, [name])),

    close: (): Promise<void> => pool.close(),
  };
}
