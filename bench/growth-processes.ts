import { engineNamed, startOwnEngine } from "@signalbox/infra/engines/index.ts";
import { createSender, eventually, testPerson } from "@signalbox/testing";
import { cpuMsOf } from "./delivery.ts";
import { type Grown, middleOfRounds } from "./growth-waits.ts";
import { startIngestSystem, startPublishSystem } from "./ingest-system.ts";
import { pacedLoad } from "./paced-load.ts";

const processes = 4;
/** Each process gets as much as the first had alone. */
const load = { perSecond: 100, seconds: 20 };
const wantedTimes = 1.1;
const filling = "x".repeat(900);

interface Replica {
  readonly pid: number;
  readonly origin: string;
}

/** A service on the engines, of which more processes can be started. */
interface Replicated {
  readonly first: Replica;
  startAnother(): Promise<Replica>;
  /** Sends the load to a process, and returns the number of its units. */
  send(origin: string): Promise<number>;
  /** Waits until all that was sent is done. */
  finish(): Promise<void>;
}

/** The processor time of a unit, while one process works and while several share database and log. */
export const processGrowths = [
  () => measure("webhook-delivery", deliver),
  () => measure("webhook-ingest", receive),
] as const;

async function measure(service: string, open: typeof deliver): Promise<Grown> {
  await using opened = new AsyncDisposableStack();
  const [kafka, redis] = [await startOwnEngine(engineNamed("kafka")), await startOwnEngine(engineNamed("redis"))];
  for (const engine of [kafka, redis]) opened.defer(() => engine.close());
  const system = await open(opened, { eventsUrl: kafka.url, cacheUrl: redis.url });
  const all = [system.first];
  await costOf(system, all); // the first seconds compile the code
  const few = await middleOfRounds(() => costOf(system, all));
  while (all.length < processes) all.push(await system.startAnother());
  await costOf(system, all);
  const many = await middleOfRounds(() => costOf(system, all));
  return { name: `${processes} processes of ${service} for one`, wantedTimes, unit: "ms", kind: "cost", few, many };
}

async function costOf({ send, finish }: Replicated, all: readonly Replica[]) {
  const cpuMs = async () => (await Promise.all(all.map(({ pid }) => cpuMsOf(pid)))).reduce((sum, one) => sum + one, 0);
  const before = await cpuMs();
  const sent = await Promise.all(all.map(({ origin }) => send(origin)));
  await finish();
  const units = sent.reduce((sum, one) => sum + one, 0);
  return { "processor of a unit": Math.round((((await cpuMs()) - before) / units) * 1_000) / 1_000 };
}

async function deliver(
  opened: AsyncDisposableStack,
  engines: Parameters<typeof startPublishSystem>[1],
): Promise<Replicated> {
  const { delivery, sink, startAnother } = await startPublishSystem(opened, engines);
  const owner = testPerson();
  const body = { url: sink.url, event_types: ["order.paid"] };
  await createSender(delivery.origin)(owner, "POST", "/api/v1/webhooks/endpoints", { body });
  let sent = 0;
  const request = {
    method: "POST",
    headers: { ...owner.headers, "content-type": "application/json" },
    body: JSON.stringify({ type: "order.paid", data: { filling } }),
  } as const;
  return {
    first: delivery,
    startAnother,
    async send(origin) {
      const url = `${origin}/api/v1/webhooks/events`;
      const { length } = await pacedLoad({ url, ...load, connections: 16, next: () => request });
      sent += length;
      return length;
    },
    finish: async () => void (await eventually(async () => (await sink.count()) >= sent, { timeoutMs: 60_000 })),
  };
}

async function receive(
  opened: AsyncDisposableStack,
  engines: Parameters<typeof startIngestSystem>[1],
): Promise<Replicated> {
  const { ingest, quiet, startAnother, startLoad } = await startIngestSystem(opened, engines);
  const loads = new Map<string, ReturnType<typeof startLoad>>();
  return {
    first: ingest,
    startAnother,
    async send(origin) {
      const post = loads.get(origin) ?? startLoad(origin);
      loads.set(origin, post);
      const { statuses } = await post({ sources: quiet, ...load });
      return statuses[202] ?? 0;
    },
    finish: () => Promise.resolve(),
  };
}
