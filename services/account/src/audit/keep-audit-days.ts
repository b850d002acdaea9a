import type { Clock } from "@signalbox/core";
import type { AuditDayStore } from "./audit-day-store.ts";
import { dayMs, startOfDay } from "./audit-days.ts";

interface Dependencies {
  readonly auditDays: AuditDayStore;
  readonly clock: Clock;
  readonly retentionDays: () => number;
}

/** Long enough for a weekend in which nothing could be made. Later entries would still be written, and moved afterwards. */
const daysAhead = 7;
/** Of entries without a table, such as those of a wrong clock, so many days are given one at a time. */
const straysMax = 32;

/** Makes the tables of today and the days ahead, and drops those whose every entry is past the retention. */
export function createKeepAuditDays({ auditDays, clock, retentionDays }: Dependencies) {
  return async function keepAuditDays(): Promise<void> {
    const nowMs = clock.nowMs();
    const days = new Set(await auditDays.days());
    for (let ahead = 0; ahead <= daysAhead; ahead++) {
      const day = startOfDay(nowMs) + ahead * dayMs;
      if (!days.has(day)) await auditDays.make(day);
    }
    await makeForStrays();
    const oldestMs = nowMs - retentionDays() * dayMs;
    for (const day of await auditDays.days()) {
      if (day + dayMs <= oldestMs) await auditDays.drop(day);
    }
  };

  async function makeForStrays(): Promise<void> {
    for (let count = 0; count < straysMax; count++) {
      const day = await auditDays.oldestStray();
      if (day === null || !(await auditDays.make(day))) return;
    }
  }
}
