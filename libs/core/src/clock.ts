import process from "node:process";

/** The source of the time. Everything that reads the time or sleeps takes a `Clock`, so that tests can move it. */
export interface Clock {
  /** The wall-clock time. */
  now(): Date;
  /** The wall-clock time in milliseconds since the epoch. */
  nowMs(): number;
  /** A steady count of milliseconds with a fraction, for durations: never set back by NTP. */
  steadyMs(): number;
}

let correctionMs = 0;

/** The only reader of the machine's clock, corrected by what it is known to be off. */
export const systemClock: Clock = {
  now: () => new Date(Date.now() + correctionMs),
  nowMs: () => Date.now() + correctionMs,
  steadyMs: () => performance.now(),
};

/** Returns the true time for one that the machine wrote down itself, such as that of a file; both in milliseconds. */
export const trueMs = (machineMs: number): number => machineMs + correctionMs;

/** Smaller offsets are left to NTP: an answer that brings the time takes some of it, and no rule of ours is finer. */
const toleranceMs = 1_000;

/** A measurement of the machine's clock. */
interface ClockOffset {
  /** The true time minus that of the machine, in milliseconds. */
  readonly offsetMs: number;
  /** True when the clock is corrected from this measurement on, and was not before. */
  readonly isNews: boolean;
}

/**
 * Gives the whole process the true time, where its own is wrong by more than a second: less than that is not worth the
 * step.
 */
export function setSystemClock(nowMs: number): ClockOffset {
  const offsetMs = nowMs - Date.now();
  const wasCorrected = correctionMs !== 0;
  if (Math.abs(nowMs - systemClock.nowMs()) > toleranceMs)
    correctionMs = Math.abs(offsetMs) > toleranceMs ? Math.round(offsetMs) : 0;
  return { offsetMs, isNews: correctionMs !== 0 && !wasCorrected };
}

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

/**
 * Creates a clock that runs as time does and can be moved: for tests that also meet the real time, in tokens that others
 * sign, which a standing clock would find in the future once a test has taken longer than the skew.
 */
export function createMovableClock(): ManualClock {
  let aheadMs = 0;
  return {
    now: () => new Date(Date.now() + aheadMs),
    nowMs: () => Date.now() + aheadMs,
    steadyMs: () => performance.now() + aheadMs,
    advance: (milliseconds) => {
      aheadMs += milliseconds;
    },
    set: (time) => {
      aheadMs = time.getTime() - Date.now();
    },
  };
}

/** Returns the milliseconds of processor time that this thread has used: a wait for the processor does not count. */
export function threadProcessorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
