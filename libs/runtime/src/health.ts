import { seconds } from "@signalbox/core";
import type { Logger } from "./telemetry/logger.ts";

/** The reason why a part is unhealthy, in a sentence for everyone; `null` when it is healthy. */
type HealthReason = string | null;
type HealthCheck = () => HealthReason | Promise<HealthReason>;

export interface Verdict {
  readonly status: "up" | "down";
  readonly checks: Readonly<Record<string, { readonly status: "up" | "down"; readonly reason?: string }>>;
}

interface HealthReport {
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

/** The health of a process: several services report to it, and the stop turns it unready. */
export interface ProcessHealth extends Health {
  /** Returns the same health with prefixed names, for one of several services in a process. */
  scoped(prefix: string): Health;
  /** Turns the process unready for good: it is stopping. */
  drain(): void;
}

/**
 * Creates the health of a process. A check that throws or takes longer than `checkMsMax` counts as failed, except for a
 * late liveness check: a process without processor time is slow, and a restart would take the missing time from others.
 */
export function createHealth({ log, checkMsMax = seconds(2) }: { log: Logger; checkMsMax?: number }): ProcessHealth {
  const starting = new Map<string, boolean>();
  const readyChecks = new Map<string, HealthCheck>();
  const liveChecks = new Map<string, HealthCheck>();
  let draining = false;

  const judge = async (checks: ReadonlyMap<string, HealthCheck>, whenLate: HealthReason): Promise<Verdict> => {
    const entries = await Promise.all(
      [...checks].map(async ([name, check]) => [name, entryOf(await reasonOf(name, check, whenLate))] as const),
    );
    return verdictOf(entries);
  };
  const reasonOf = async (name: string, check: HealthCheck, whenLate: HealthReason): Promise<HealthReason> => {
    const late = Promise.withResolvers<HealthReason>();
    const timer = setTimeout(() => late.resolve(whenLate), checkMsMax);
    try {
      return await Promise.race([check(), late.promise]);
    } catch (error) {
      log.warn({ check: name, error }, "A health check failed");
      return "the check failed";
    } finally {
      clearTimeout(timer);
    }
  };
  const startupVerdict = () =>
    verdictOf([...starting].map(([name, isDone]) => [name, entryOf(isDone ? null : "has not finished")] as const));

  const health: ProcessHealth = {
    startup: (name) => {
      starting.set(name, false);
      return { done: () => void starting.set(name, true) };
    },
    ready: (name, check) => void readyChecks.set(name, check),
    live: (name, check) => void liveChecks.set(name, check),
    drain: () => {
      draining = true;
    },
    report: async (): Promise<HealthReport> => {
      const startup = startupVerdict();
      const process = draining ? "stopping" : startup.status === "up" ? null : "starting";
      const [ready, live] = await Promise.all([
        judge(new Map([["process", () => process], ...readyChecks]), "the check takes too long"),
        judge(liveChecks, null),
      ]);
      return { startup, ready, live };
    },
    scoped: (prefix) => ({
      startup: (name) => health.startup(`${prefix}/${name}`),
      ready: (name, check) => health.ready(`${prefix}/${name}`, check),
      live: (name, check) => health.live(`${prefix}/${name}`, check),
      report: () => health.report(),
    }),
  };
  return health;
}

type Entry = Verdict["checks"][string];

function entryOf(reason: HealthReason): Entry {
  return reason === null ? { status: "up" } : { status: "down", reason };
}

function verdictOf(entries: readonly (readonly [string, Entry])[]): Verdict {
  const status = entries.every(([, entry]) => entry.status === "up") ? "up" : "down";
  return { status, checks: Object.fromEntries(entries) };
}
