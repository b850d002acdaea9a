import { type Clock, hours } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import { endpointFailing } from "./endpoint.ts";
import type { EndpointStatus } from "./endpoint-status.ts";
import type { EndpointStore } from "./endpoint-store.ts";
import { lockWindow, noteNotified, type ProbedEndpoint, planProbe, takeProbes } from "./health-store.ts";
import { type HealthLimits, judgeHealth } from "./judge-health.ts";

interface HealthDependencies {
  readonly pool: Pool;
  readonly endpointStore: Pick<EndpointStore, "lockById">;
  readonly endpointStatus: Pick<EndpointStatus, "disable">;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits: () => HealthLimits;
}

const probeEveryMs = hours(1);

export type EndpointHealth = ReturnType<typeof createEndpointHealth>;

/** Creates the judge of failing endpoints: it reports them, disables them and probes them. */
export function createEndpointHealth(dependencies: HealthDependencies) {
  const { pool, clock, log, limits } = dependencies;
  return {
    limits,
    /**
     * Judges endpoints that have failed for some time. An endpoint whose judging fails is judged again at its next
     * failure.
     */
    async judge(ids: readonly string[]): Promise<void> {
      for (const id of ids) {
        await inTransaction(pool, (tx) => judgeOne(dependencies, tx, id)).catch((error: unknown) =>
          log.warn({ error, endpointId: id }, "a failing endpoint could not be judged"),
        );
      }
    },

    /** Takes the endpoints whose next probe is due, and plans another probe in case this one fails. */
    async takeProbes(): Promise<ProbedEndpoint[]> {
      const now = clock.now();
      const next = new Date(now.getTime() + probeEveryMs);
      return takeProbes(pool, now, next);
    },
  };
}

async function judgeOne(
  { endpointStore, endpointStatus, outbox, clock, limits }: HealthDependencies,
  tx: Tx,
  id: string,
): Promise<void> {
  const endpoint = await endpointStore.lockById(tx, id);
  const window = await lockWindow(tx, id);
  if (endpoint?.status !== "enabled" || window === null) return;
  const now = clock.now();
  switch (judgeHealth(window, now.getTime(), limits())) {
    case "notify":
      await noteNotified(tx, id, now);
      await outbox.append(tx, [endpointFailing(endpoint, window.failingSince)]);
      return;
    case "disable":
      await endpointStatus.disable(tx, endpoint, "failing");
      await planProbe(tx, id, new Date(now.getTime() + probeEveryMs));
      return;
    case null:
      return;
  }
}
