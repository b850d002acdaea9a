import type { WakeUp } from "./wake-up.ts";

/** The long-running work of a worker. It ends when the signal aborts, and says with `beat` that it still moves. */
export type Work = (signal: AbortSignal, beat: () => void) => Promise<void>;

/** One turn of work that comes again and again. It answers "again" to go on without a pause, as there is more to do. */
export type Turn = (signal: AbortSignal, beat: () => void) => Promise<void> | Promise<"again" | "done">;

/** The time between two turns in milliseconds, read each time if it is a function; a `WakeUp` can cut it short. */
export type Pause = number | (() => number) | WakeUp;

/** Holds what a process has open. Opening something and handing over its close are two neighbouring lines. */
export interface Runner {
  /** Closes happen in reverse order, each bounded in time. After the stop began, the close happens at once. */
  defer(name: string, close: () => unknown): void;
  /** Runs the work under a supervisor until the process stops. Ending early counts as a failure and is restarted. */
  worker(name: string, work: Work): void;
  /**
   * Runs the turn under a supervisor, and again when `pause` has passed since its end, until the process stops. A turn
   * that fails comes again when the supervisor restarts the worker, and a pause never counts as being stuck.
   */
  every(name: string, pause: Pause, turn: Turn): void;
  /** As `every`, for work that nobody waits for: the first turn comes some seconds after the start of the process. */
  housekeeping(name: string, pauseMs: number, turn: Turn): void;
  /**
   * Called when the stop begins: take no more, and resolve when what is in hand is done. All run side by side. `inHand`
   * counts what is in hand then, for the log.
   */
  onDrain(name: string, drain: () => unknown, inHand?: () => number): void;
  /** Aborts when the process turns unready. It still takes work until `stopping`, for those who have not seen it yet. */
  readonly leaving: AbortSignal;
  /** Aborts when the stop begins. */
  readonly stopping: AbortSignal;
}
