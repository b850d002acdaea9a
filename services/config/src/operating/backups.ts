import type { BackupResource } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import type { z } from "zod";
import type { ConfigService } from "../context/config-service.ts";

type Backup = z.output<typeof BackupResource>;

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

/**
 * Lists the newest backups that the command `backup` has taken and checked, and noted in the database. Nothing is watched
 * as long as none has ever been noted.
 */
export async function listBackups({
  pool,
  clock,
}: ConfigService): Promise<{ readonly items: readonly Backup[]; readonly is_watched: boolean }> {
  const { rows } = await pool.query<Row>(list);
  return { items: rows.map((row) => viewOf(row, clock)), is_watched: rows.length > 0 };
}

/** Shows the age of the newest backup that was found whole as a metric. */
export function watchBackups({ pool, clock, metrics }: ConfigService): void {
  // None before there is one.
  metrics.gauge("signalbox_backup_age_seconds", async (gauge) => {
    const [newest] = (await pool.query<{ readonly takenAt: Date }>(newestVerified)).rows;
    if (newest) gauge.set({}, ageOf(newest.takenAt, clock));
  });
}

const ageOf = (takenAt: Date, clock: Clock): number =>
  Math.max(0, Math.round((clock.nowMs() - takenAt.getTime()) / 1000));

const viewOf = ({ name, takenAt, release, bytes, verifiedAt, restoredAt }: Row, clock: Clock): Backup => ({
  name,
  taken_at: takenAt.toISOString(),
  age_seconds: ageOf(takenAt, clock),
  release,
  bytes: Number(bytes),
  verified_at: verifiedAt?.toISOString() ?? null,
  restored_at: restoredAt?.toISOString() ?? null,
});
