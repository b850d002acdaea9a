import { setTimeout as sleep } from "node:timers/promises";
import type { HealthSample } from "../evidence.ts";
import { createHttp } from "../http.ts";
import type { Instance } from "../systems/instance.ts";
import type { LedgerSystem } from "../systems/ledger-system.ts";
import { readsOf, servedBy } from "./reads.ts";

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
