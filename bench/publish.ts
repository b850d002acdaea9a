import { setTimeout as sleep } from "node:timers/promises";
import { eventually, testPerson } from "@signalbox/testing";
import { least, most } from "./history.ts";
import { cpuMsOf, hundredths, successes, summaryOf } from "./measure.ts";
import { addEndpoint, openSurroundings, publication, startSink } from "./systems.ts";

const seconds = 8;
const connections = 32;

export async function run() {
  await using opened = new AsyncDisposableStack();
  const sink = await startSink(opened);
  const { start } = await openSurroundings(opened);
  const { origin, pid } = await start("webhook-delivery", {
    "webhook-delivery.outbound.allow": "127.0.0.1:*",
    "log.level": "warn",
  });
  const who = testPerson();
  let published = 0;
  const publish = (to: string, perSecond: number | null) =>
    successes({ origin: to, perSecond, seconds, connections, next: () => publication(who, `event-${++published}`) });
  /** Waits until all that was accepted has arrived. */
  const arrived = async (count: number) => {
    await eventually(async () => (await sink.count()) >= count, { timeoutMs: 120_000 });
    await sink.take();
  };

  const answering = Math.round((await publish(sink.url, null)).length / seconds);
  await sink.take();
  await addEndpoint(origin, who, { url: sink.url });
  await arrived((await publish(origin, 200)).length); // the first seconds compile the code
  const cpuBefore = await cpuMsOf(pid);
  const { length } = await publish(origin, null);
  await arrived(length);
  await sleep(500); // the last results are recorded
  const cpuMs = hundredths(((await cpuMsOf(pid)) - cpuBefore) / length);
  const perSecond = Math.round(length / seconds);
  const waits = summaryOf(await publish(origin, 200));
  return {
    rows: [
      { what: "a server that only answers (baseline)", perSecond: answering },
      { what: "one account, one endpoint", perSecond, cpuMs, ...waits },
    ],
    figures: [
      least(
        `published by one account on ${connections} connections`,
        3_000,
        perSecond,
        "/s",
        `a server that only answers: ${answering}/s`,
      ),
      most("200/s from one account, accepted, p50", 2.5, waits.p50Ms, "ms"),
      most("200/s from one account, accepted, p99", 12, waits.p99Ms, "ms"),
      most("processor per published and delivered event", 0.5, cpuMs, "ms"),
    ],
  };
}
