/** The reason why something is not well, in a sentence for everybody; `null` when it is well. */
export type HealthReason = string | null;
export type HealthCheck = () => HealthReason | Promise<HealthReason>;

export interface Verdict {
  readonly status: "up" | "down";
  readonly checks: Readonly<Record<string, { readonly status: "up" | "down"; readonly reason?: string }>>;
}

export interface HealthReport {
  readonly startup: Verdict;
  readonly ready: Verdict;
  readonly live: Verdict;
}

/** The health of a process, for those who route to it and restart it. */
export interface Health {
  /** A step of the start: nothing is ready before every step is done. */
  startup(name: string): { done(): void };
  /** Adds a check that keeps traffic away while it fails. A dependency that all instances share is no reason to be unready. */
  ready(name: string, check: HealthCheck): void;
  /** Adds a check that asks for a restart when it fails. */
  live(name: string, check: HealthCheck): void;
  report(): Promise<HealthReport>;
}
