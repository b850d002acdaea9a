import type { BackupResource } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import { type Pool, sql } from "@signalbox/storage";
import type { Metrics } from "@signalbox/telemetry";
import type { z } from "zod";

type Backup = z.output<typeof BackupResource>;

interface Dependencies {
  readonly pool: Pick<Pool, "query">;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

interface Row {
  readonly name: string;
  readonly takenAt: Date;
  readonly release: string;
  readonly bytes: bigint;
  readonly verifiedAt: Date | null;
  readonly restoredAt: Date | null;
}

const shownMax = 50;

const list = sql(
  "backups.list",
  `select name, taken_at as "takenAt", release, bytes, verified_at as "verifiedAt", restored_at as "restoredAt"
   from backups order by taken_at desc limit ${shownMax}`,
);
const newestVerified = sql(
  "backups.newest-verified",
  `select taken_at as "takenAt" from backups where verified_at is not null order by taken_at desc limit 1`,
);

export type Backups = ReturnType<typeof createBackups>;

/**
 * Creates the list of the backups that the command `backup` has taken and checked, and noted in the database, and the
 * metric of the age of the newest that was found whole.
 */
export function createBackups({ pool, clock, metrics }: Dependencies) {
  const ageOf = (takenAt: Date): number => Math.max(0, Math.round((clock.nowMs() - takenAt.getTime()) / 1000));
  const viewOf = ({ name, takenAt, release, bytes, verifiedAt, restoredAt }: Row): Backup => ({
    name,
    taken_at: takenAt.toISOString(),
    age_seconds: ageOf(takenAt),
    release,
    bytes: Number(bytes),
    verified_at: verifiedAt?.toISOString() ?? null,
    restored_at: restoredAt?.toISOString() ?? null,
  });

  // None before there is one.
  metrics.gauge("signalbox_backup_age_seconds", async (gauge) => {
    const [newest] = (await pool.query<Pick<Row, "takenAt">>(newestVerified)).rows;
    if (newest) gauge.set({}, ageOf(newest.takenAt));
  });

  return {
    /** Lists the newest backups first. Nothing is watched as long as none has ever been noted. */
    async list(): Promise<{ readonly items: readonly Backup[]; readonly is_watched: boolean }> {
      const { rows } = await pool.query<Row>(list);
      return { items: rows.map(viewOf), is_watched: rows.length > 0 };
    },
  };
}
