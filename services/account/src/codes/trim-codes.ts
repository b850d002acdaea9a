import { type Clock, hours } from "@signalbox/core";
import { type Pool, sql } from "@signalbox/storage";

interface Dependencies {
  readonly pool: Pool;
  readonly clock: Clock;
}

/** Long enough to count the codes of the last hour, and to tell a late person that theirs has expired. */
const keptMs = hours(24);

const deleteCodes = sql("code.delete-before", "delete from one_time_codes where expires_at <= $1");

/** Removes codes that ended long ago. */
export function createTrimCodes({ pool, clock }: Dependencies) {
  return async function trimCodes(): Promise<void> {
    await pool.query(deleteCodes, [new Date(clock.nowMs() - keptMs)]);
  };
}
