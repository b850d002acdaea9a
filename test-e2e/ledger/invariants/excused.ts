import type { Evidence } from "../evidence.ts";

/** Time within which every ending takes effect. */
export const endsWithinMs = 2_000;

/**
 * Returns the time by which something must have ended: this long after its answer, not counting the time in which a
 * process was halted, nor the waiting times of processes on a busy machine.
 */
export function excused({ faults, health }: Evidence, answeredAt: number, withinMs: number): number {
  let endsAt = answeredAt + withinMs;
  for (const { halted, from, until } of faults) {
    if (halted.length > 0 && from < endsAt && until > answeredAt) endsAt = Math.max(endsAt, until + withinMs);
  }
  const waits = health.filter(({ t, endedAt }) => endedAt > answeredAt && t < endsAt).map(({ liveMs }) => liveMs);
  return endsAt + Math.max(0, ...waits);
}
