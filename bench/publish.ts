import { setTimeout as sleep } from "node:timers/promises";
import { createSender, eventually, freePort, type TestPerson, testPerson } from "@signalbox/testing";
import { Pool } from "undici";
import { percentile, rounded } from "./bench-parts.ts";
import { cpuMsOf } from "./delivery.ts";
import { least, most } from "./history.ts";
import { startPublishSystem } from "./ingest-system.ts";
import { pacedLoad } from "./paced-load.ts";

const perSecond = 200;
const pacedSeconds = 10;
const fullSeconds = 8;
const connections = 32;
const eventsPath = "/api/v1/webhooks/events";
const filling = "x".repeat(900);
let published = 0;

/** The next event of one account, under an id of its own. */
function nextEvent({ headers }: TestPerson) {
  const body = JSON.stringify({ id: `event-${++published}`, type: "order.paid", data: { filling } });
  return { method: "POST", headers: { ...headers, "content-type": "application/json" }, body } as const;
}

type System = Awaited<ReturnType<typeof startPublishSystem>>;

export async function run() {
  await using opened = new AsyncDisposableStack();
  const system = await startPublishSystem(opened);
  const answering = (await posted(system.sink.url, () => nextEvent(testPerson()))) / fullSeconds;
  await system.sink.take();
  const owner = await ownerOf(system, [`${system.sink.url}/0`]);
  await paced(system, owner);
  const alone = { ...(await full(system, owner)), ...(await paced(system, owner)) };
  const refusing = await ownerOf(system, [`${system.sink.url}/0`, `http://127.0.0.1:${await freePort()}/`]);
  const beside = { ...(await full(system, refusing)), ...(await paced(system, refusing)) };
  const share = Math.round((beside.perSecond / alone.perSecond) * 100) / 100;
  const answers = `a server that only answers: ${Math.round(answering)}/s`;
  return {
    rows: [
      { what: "a server that only answers (baseline)", perSecond: Math.round(answering) },
      { what: "one account, one endpoint", ...alone },
      { what: "the same beside an endpoint that refuses connections", ...beside },
    ],
    figures: [
      least("published by one account on 32 connections", 3_000, alone.perSecond, "/s", answers),
      most("200/s from one account, accepted, p50", 2.5, alone.p50Ms, "ms"),
      most("200/s from one account, accepted, p99", 12, alone.p99Ms, "ms"),
      most("processor per published and delivered event", 0.5, alone.cpuMs, "ms"),
      least("published beside an endpoint that refuses, share of without it", 0.9, share),
      most("200/s beside an endpoint that refuses, accepted, p99", 12, beside.p99Ms, "ms"),
    ],
  };
}

async function ownerOf({ delivery }: System, urls: readonly string[]): Promise<TestPerson> {
  const who = testPerson();
  for (const url of urls) {
    const body = { url, event_types: ["order.paid"] };
    const { status, text } = await createSender(delivery.origin)(who, "POST", "/api/v1/webhooks/endpoints", { body });
    if (status !== 201) throw new Error(`an endpoint was answered ${status}: ${text}`);
  }
  return who;
}

/** Publishes at an even rate; each time is measured from the moment when the event was due. */
async function paced({ delivery, sink }: System, who: TestPerson) {
  const url = `${delivery.origin}${eventsPath}`;
  const load = { url, perSecond, seconds: pacedSeconds, connections, next: () => nextEvent(who) };
  const waits = await pacedLoad(load);
  await eventually(async () => (await sink.count()) >= waits.length, { timeoutMs: 60_000 });
  await sink.take();
  return { p50Ms: rounded(percentile(waits, 0.5)), p99Ms: rounded(percentile(waits, 0.99)) };
}

/** Publishes as fast as the answers come, until all that was accepted has arrived. */
async function full({ delivery, sink }: System, who: TestPerson) {
  const cpuBefore = await cpuMsOf(delivery.pid);
  const accepted = await posted(delivery.origin, () => nextEvent(who));
  await eventually(async () => (await sink.count()) >= accepted, { timeoutMs: 120_000 });
  await sleep(500); // the last results are recorded
  const cpuMs = (await cpuMsOf(delivery.pid)) - cpuBefore;
  await sink.take();
  return {
    perSecond: Math.round(accepted / fullSeconds),
    cpuMs: Math.round((cpuMs / accepted) * 100) / 100,
  };
}

/** Posts on all connections for some seconds, and returns the number of accepted events. */
async function posted(origin: string, next: () => ReturnType<typeof nextEvent>): Promise<number> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const endMs = performance.now() + fullSeconds * 1000;
  let accepted = 0;
  const client = async () => {
    while (performance.now() < endMs) {
      const { statusCode, body } = await pool.request({ path: eventsPath, ...next() });
      const text = await body.text();
      if (statusCode >= 300) throw new Error(`answered ${statusCode}: ${text}`);
      accepted++;
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  await pool.close();
  return accepted;
}
