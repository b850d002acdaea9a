import { setTimeout as sleep } from "node:timers/promises";
import type { HealthSample } from "../evidence.ts";
import { createHttp } from "../http.ts";
import type { Instance } from "../systems/instance.ts";
import type { LedgerSystem } from "../systems/ledger-system.ts";
import { readsOf, servedBy } from "./reads.ts";

const everyMs = 1_000;
/** On a machine this busy; a process that is halted is told apart by its fault. */
const answerMs = 15_000;

/** Asks every process each second whether it lives, whether it is ready, and then for something it can do alone. */
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
  // The worst of them: an embedded process is ready with all of its services or not at all.
  const read = statuses.includes(null) ? null : Math.max(...statuses.map(Number));
  return { t, endedAt: now(), instance: name, liveMs, live, ready, read: reads.length === 0 ? 200 : read };
}
