/** The reason why a part is unhealthy, in a sentence for everyone; `null` when it is healthy. */
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

/** The health of a process, for load balancers and supervisors. */
export interface Health {
  /** Adds a step of the start: nothing is ready before every step is done. */
  startup(name: string): { done(): void };
  /**
   * Adds a check that keeps traffic away while it fails. A dependency shared by all instances must not make one
   * unready.
   */
  ready(name: string, check: HealthCheck): void;
  /** Adds a check that requests a restart when it fails. */
  live(name: string, check: HealthCheck): void;
  report(): Promise<HealthReport>;
}
