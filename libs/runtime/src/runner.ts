import type { WakeUp } from "./wake-up.ts";

/** The long-running work of a worker. It ends when the signal aborts, and reports its progress with `beat`. */
export type Work = (signal: AbortSignal, beat: () => void) => Promise<void>;

/** One turn of repeated work. It returns "again" to continue without a pause, when there is more to do. */
export type Turn = (signal: AbortSignal, beat: () => void) => Promise<void> | Promise<"again" | "done">;

/** The time between two turns in milliseconds, read each time if it is a function; a `WakeUp` can end it early. */
export type Pause = number | (() => number) | WakeUp;

/** Registers what the shutdown of a process closes. */
export interface ShutdownHooks {
  /**
   * Registers a close. Closes run in reverse order, each bounded by `withinMs`, or ten seconds, and all by the deadline;
   * after the stop began, immediately.
   */
  defer(name: string, close: () => unknown, limit?: { readonly withinMs: number }): void;
}

/** The open parts of a process. Opening a part and handing over its close are two neighbouring lines. */
export interface Runner extends ShutdownHooks {
  /** Runs the work under a supervisor until the process stops. Ending early counts as a failure and is restarted. */
  worker(name: string, work: Work): void;
  /**
   * Runs the turn under a supervisor, and again after `pause` from its end, until the process stops. A failed turn is
   * repeated when the supervisor restarts the worker, and a pause never counts as stuck.
   */
  every(name: string, pause: Pause, turn: Turn): void;
  /**
   * Like `every`, for background work without a waiting caller: the first turn is some seconds after the start of the
   * process.
   */
  housekeeping(name: string, pauseMs: number, turn: Turn): void;
  /**
   * Registers a drain, called when the stop begins: accept no more work, and resolve when the running work is done. All
   * run in parallel. `inHand` counts running work, for the log.
   */
  onDrain(name: string, drain: () => unknown, inHand?: () => number): void;
  /**
   * Aborts when the process turns unready. It still accepts work until `stopping`, for clients that have not noticed
   * yet.
   */
  readonly leaving: AbortSignal;
  /** Aborts when the stop begins. */
  readonly stopping: AbortSignal;
}
