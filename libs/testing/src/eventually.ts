import { setTimeout as sleep } from "node:timers/promises";

interface Eventually {
  readonly timeoutMs?: number;
  /** The awaited promise, in the words of the test. */
  readonly message?: string;
}

const shortestPauseMs = 5;
const longestPauseMs = 200;
/** Lateness of a timer above which it counts as time that the machine gave to other processes. */
const lateMsMax = 20;

/**
 * Turns a check that sometimes returns a value and sometimes `undefined` into a compiler error: it would not be
 * awaited.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a check made of assertions returns void, which is not undefined here.
type NeverUndefined<T> = [T] extends [void] ? unknown : undefined extends T ? "end with `?? null`" : unknown;

/**
 * Repeats `check` until it returns a value other than `false` or `null` without throwing, and returns that value; a
 * check without a return value, such as one made of assertions, is done once it does not throw. Fails with the last
 * error as its cause. Time in which this process did not run does not count: a bound is about the product.
 */
export async function eventually<T>(
  check: (() => T | Promise<T>) & NeverUndefined<T>,
  { timeoutMs = 60_000, message = "the condition holds" }: Eventually = {},
): Promise<Exclude<T, false | null>> {
  let giveUpAt = performance.now() + timeoutMs;
  let pauseMs = shortestPauseMs;
  for (;;) {
    const attempt = await tryOnce(check);
    if (attempt.done) return attempt.value as Exclude<T, false | null>;
    if (performance.now() + pauseMs > giveUpAt) {
      throw new Error(`gave up after ${timeoutMs} ms: ${message}; last: ${describe(attempt.error)}`, {
        cause: attempt.error,
      });
    }
    const wakeAt = performance.now() + pauseMs;
    await sleep(pauseMs);
    const lateMs = performance.now() - wakeAt;
    if (lateMs > lateMsMax) giveUpAt += lateMs;
    pauseMs = Math.min(pauseMs * 1.5, longestPauseMs);
  }
}

async function tryOnce<T>(
  check: () => T | Promise<T>,
): Promise<{ done: true; value: T } | { done: false; error: unknown }> {
  try {
    const value = await check();
    return value === false || value === null
      ? { done: false, error: `the check gave ${value}` }
      : { done: true, value };
  } catch (error) {
    return { done: false, error };
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
