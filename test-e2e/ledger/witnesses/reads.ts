import { setTimeout as sleep } from "node:timers/promises";
import type { HealthSample } from "../evidence.ts";
import { type Call, createHttp } from "../http.ts";
import type { Instance } from "../systems/instance.ts";
import type { LedgerSystem } from "../systems/ledger-system.ts";

interface Reads {
  /** A write to a missing resource: the caller is judged first. */
  readonly attempt: readonly [path: string, call: Call];
  /** A read that needs no other service. */
  readonly read: string;
}

const mutation = (query: string): Reads["attempt"] => ["/graphql", { body: { query } }];

/** The requests that show, for each service, whether it accepts a credential and whether it works. */
export const readsOf: Readonly<Record<string, Reads>> = {
  account: { attempt: ["/api/account/", { method: "PATCH", body: {} }], read: "/api/account/" },
  images: { attempt: ["/images/nothing", { method: "DELETE" }], read: "/images?limit=1" },
  config: {
    // Its routes only read, and only the gateway reaches its subgraph.
    attempt: ["/api/v1/config/", {}],
    read: "/api/v1/config/",
  },
  "webhook-ingest": {
    attempt: ["/api/v1/webhooks/sources/nothing", { method: "DELETE" }],
    read: "/api/v1/webhooks/sources?limit=1",
  },
  "webhook-delivery": {
    attempt: ["/api/v1/webhooks/endpoints/nothing", { method: "DELETE" }],
    read: "/api/v1/webhooks/endpoints?limit=1",
  },
  gateway: {
    attempt: mutation("mutation { updateAccount(input: {}) { errors { field } } }"),
    read: "/graphql?query={__typename}",
  },
};

/** The services that answer callers at an instance. */
export const servedBy = (service: string): string[] =>
  service === "embedded" ? Object.keys(readsOf) : service in readsOf ? [service] : [];

const everyMs = 1_000;
/** Patience on a busy machine; a halted process is recognised by its fault. */
const answerMs = 15_000;

/** Samples every process each second: liveness, readiness, and a read that needs no other process. */
export async function sampleHealth(
  system: LedgerSystem,
  now: () => number,
  stopped: AbortSignal,
): Promise<HealthSample[]> {
  const samples: HealthSample[] = [];
  while (!stopped.aborted) {
    samples.push(...(await Promise.all(system.instances.map((one) => sample(one, system.administratorKey, now)))));
    await sleep(everyMs);
  }
  return samples;
}

async function sample({ program: { name, service, url, managementUrl } }: Instance, key: string, now: () => number) {
  const t = now();
  const statusOf = async (base: string, path: string) =>
    (await createHttp(base, key)(path, { timeoutMs: answerMs }))?.status ?? null;
  const live = await statusOf(managementUrl, "/management/health/live");
  const liveMs = live === null ? 0 : now() - t;
  const ready = await statusOf(managementUrl, "/management/health/ready");
  const reads = servedBy(service).map((one) => readsOf[one]?.read ?? "/");
  const statuses = ready === 200 ? await Promise.all(reads.map((path) => statusOf(url, path))) : [];
  // The worst status: an embedded process is ready with all of its services or not at all.
  const read = statuses.includes(null) ? null : Math.max(...statuses.map(Number));
  return { t, endedAt: now(), instance: name, liveMs, live, ready, read: reads.length === 0 ? 200 : read };
}
