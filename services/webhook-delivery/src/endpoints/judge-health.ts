/** Counts of attempts at an endpoint since it began to fail. */
export interface FailingWindow {
  readonly failingSince: Date;
  readonly failures: number;
  readonly successes: number;
  /** True when the owner was notified. */
  readonly notified: boolean;
}

/**
 * Limits after which an endpoint counts as failing, and is disabled. Both need a number of failures too: a long time
 * with few attempts proves little.
 */
export interface HealthLimits {
  readonly failingAfterMs: number;
  readonly failuresMin: number;
  readonly disableAfterMs: number;
  readonly disableFailuresMin: number;
  /** Share of all attempts in the window that must have failed, from 0 to 1. */
  readonly failedShare: number;
}

/** Decides what happens to a failing endpoint: its owner is notified once, and much later it is disabled. */
export function judgeHealth(window: FailingWindow, nowMs: number, limits: HealthLimits): "notify" | "disable" | null {
  const { failures, successes, notified } = window;
  const forMs = nowMs - window.failingSince.getTime();
  if (failures < limits.failedShare * (failures + successes)) return null;
  if (forMs >= limits.disableAfterMs && failures >= limits.disableFailuresMin) return "disable";
  return !notified && forMs >= limits.failingAfterMs && failures >= limits.failuresMin ? "notify" : null;
}
