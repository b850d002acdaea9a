import { type Clock, hours } from "@signalbox/core";
import { type Pool, sql } from "@signalbox/storage";

interface Dependencies {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly retentionDays: () => number;
}

/** Keeps one statement short. */
const batch = 1000;

const deleteBefore = sql(
  "audit.delete-before",
  "delete from audit_entries where id in (select id from audit_entries where id < $1 order by id limit $2)",
);

/** Removes what is older than the retention; answers how many entries went. Their ids tell their age. */
export function createTrimAudit({ pool, clock, retentionDays }: Dependencies) {
  return async function trimAudit(): Promise<number> {
    const oldest = firstIdAt(clock.nowMs() - retentionDays() * hours(24));
    let total = 0;
    for (;;) {
      const { rowCount } = await pool.query(deleteBefore, [oldest, batch]);
      total += rowCount;
      if (rowCount < batch) return total;
    }
  };
}

/** The smallest UUIDv7 of a millisecond (RFC 9562 §5.7). */
function firstIdAt(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
