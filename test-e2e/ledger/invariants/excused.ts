import type { Evidence } from "../evidence.ts";

/** So soon whatever was ended has ended. */
export const endsWithinMs = 2_000;

/**
 * When something must have ended: so long after it was told, not counting the time in which a process was halted, nor what
 * the processes of a busy machine had to wait for their turn.
 */
export function excused({ faults, health }: Evidence, toldAt: number, withinMs: number): number {
  let endsAt = toldAt + withinMs;
  for (const { halted, from, until } of faults) {
    if (halted.length > 0 && from < endsAt && until > toldAt) endsAt = Math.max(endsAt, until + withinMs);
  }
  const waits = health.filter(({ t, endedAt }) => endedAt > toldAt && t < endsAt).map(({ liveMs }) => liveMs);
  return endsAt + Math.max(0, ...waits);
}
