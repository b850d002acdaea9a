import { setTimeout as sleep } from "node:timers/promises";

const waitMsMax = 10_000;
const pollMs = 100;

/**
 * Asks until no problem is left, and gives what is left in the end: a change is with the controller at once, and with
 * the brokers a moment later.
 */
export async function settled<T>(ask: () => Promise<readonly T[]>): Promise<T[]> {
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const problems = await ask();
    if (problems.length === 0 || waitedMs >= waitMsMax) return [...problems];
    await sleep(pollMs);
  }
}
