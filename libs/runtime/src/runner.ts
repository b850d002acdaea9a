/** The long-running work of a worker. It ends when the signal aborts, and says with `beat` that it still moves. */
export type Work = (signal: AbortSignal, beat: () => void) => Promise<void>;

/** Holds what a process has open. Opening something and handing over its close are two neighbouring lines. */
export interface Runner {
  /** Closes happen in reverse order, each bounded in time. After the stop began, the close happens at once. */
  defer(name: string, close: () => unknown): void;
  /** Runs the work under a supervisor until the process stops. Ending early counts as a failure and is restarted. */
  worker(name: string, work: Work): void;
  /** Called when the stop begins: take no more, and resolve when what is in hand is done. All run side by side. */
  onDrain(name: string, drain: () => unknown): void;
  /** Aborts when the process turns unready. It still takes work until `stopping`, for those who have not seen it yet. */
  readonly leaving: AbortSignal;
  /** Aborts when the stop begins. */
  readonly stopping: AbortSignal;
}
