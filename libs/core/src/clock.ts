/** The source of the time. Everything that reads the time or sleeps takes a `Clock`, so that tests can move it. */
export interface Clock {
  /** The wall-clock time. */
  now(): Date;
  /** The wall-clock time in milliseconds since the epoch. */
  nowMs(): number;
  /** A steady count of milliseconds with a fraction, for durations: never set back by NTP. */
  steadyMs(): number;
}

/** The only reader of the system's clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  nowMs: () => Date.now(),
  steadyMs: () => performance.now(),
};

/** A clock that a test moves by hand. */
export interface ManualClock extends Clock {
  advance(milliseconds: number): void;
  set(time: Date): void;
}

/** Creates a clock that stands at `start` until it is moved. */
export function createManualClock(start = new Date("2026-01-01T00:00:00.000Z")): ManualClock {
  let nowMs = start.getTime();
  return {
    now: () => new Date(nowMs),
    nowMs: () => nowMs,
    steadyMs: () => nowMs,
    advance: (milliseconds) => {
      nowMs += milliseconds;
    },
    set: (time) => {
      nowMs = time.getTime();
    },
  };
}
