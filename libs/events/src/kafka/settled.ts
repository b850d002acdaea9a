import { setTimeout as sleep } from "node:timers/promises";

const waitMsMax = 10_000;
const pollMs = 100;

/**
 * Repeats the question until no problem is left, and returns the remaining ones in the end: a change reaches the
 * controller at once, and the brokers a moment later.
 */
export async function settled<T>(ask: () => Promise<readonly T[]>): Promise<T[]> {
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const problems = await ask();
    if (problems.length === 0 || waitedMs >= waitMsMax) return [...problems];
    await sleep(pollMs);
  }
}
