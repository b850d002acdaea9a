import type { EventDraft } from "@signalbox/contracts";
import { minutes } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";
import { inTransaction, type Pool, sql } from "@signalbox/storage";
import { ageSeconds } from "./canary-age.ts";
import type { canaryProperties } from "./canary-properties.ts";

type Context = ServiceContext<typeof canaryProperties>;

const everyMs = minutes(1);

const oldestWaiting = sql(
  "canary.oldest-waiting",
  `select min(created_at) as "createdAt" from signalbox.outbox where key = any($1::text[])`,
);

/**
 * Makes the canary's changes every minute, in the outbox as any change, and reports how old the newest is that was
 * written, and the newest that the log has taken.
 */
export function startCanary(
  { configuration, runner, clock, metrics }: Context,
  { pool, outbox }: { readonly pool: Pool; readonly outbox: Outbox },
  changesAt: (at: Date) => readonly EventDraft[],
): void {
  if (!configuration.get("canary.enabled")) return;
  let writtenAt = clock.now();
  const keys = changesAt(writtenAt).map(({ subject }) => subject);

  metrics.gauge("signalbox_canary_age_seconds", async (gauge) => {
    gauge.set({ stage: "written" }, ageSeconds(clock, writtenAt));
    const { rows } = await pool.query<{ createdAt: Date | null }>(oldestWaiting, [keys]);
    gauge.set({ stage: "relayed" }, ageSeconds(clock, rows[0]?.createdAt ?? writtenAt));
  });
  runner.every("canary", everyMs, async () => {
    const at = clock.now();
    await inTransaction(pool, (tx) => outbox.append(tx, changesAt(at)));
    writtenAt = at;
  });
}
