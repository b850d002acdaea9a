import { createReceiver } from "@signalbox/testing";
import { newDataDirectory, removeData, startEmbeddedSystem } from "../test-e2e/systems/embedded-system.ts";
import { percentile, rounded } from "./bench-parts.ts";
import { openDoors } from "./doors.ts";
import { type BenchResult, most } from "./history.ts";
import { pacedLoad } from "./paced-load.ts";

/** Below every limit of one account, together. */
const perSecond = 40;
const seconds = 60;
const connections = 16;

/** The first minute after a start on existing data, and the minute after it, of the same requests. */
export async function run(): Promise<BenchResult> {
  await using opened = new AsyncDisposableStack();
  const receiver = await createReceiver();
  opened.defer(() => receiver.close());
  const dataDirectory = await newDataDirectory();
  const properties = { "webhook-delivery.outbound.allow": `127.0.0.1:${receiver.port}`, "log.level": "warn" };
  const start = () => startEmbeddedSystem({ dataDirectory, properties });
  opened.defer(() => removeData({ dataDirectory }));
  const first = await start();
  const doors = await openDoors(first, receiver.url);
  await first.stop();
  const second = await start();
  opened.defer(async () => void (await second.process.kill()));
  const minute = () =>
    Promise.all(
      doors.map(async ({ path, next }) =>
        percentile(await pacedLoad({ url: second.baseUrl + path, perSecond, seconds, connections, next }), 0.99),
      ),
    );
  const cold = await minute();
  const warm = await minute();
  const times = doors.map(({ name }, at) => ({ name, coldMs: rounded(cold[at] ?? 0), warmMs: rounded(warm[at] ?? 0) }));
  return {
    rows: times.map(({ name, coldMs, warmMs }) => ({ what: name, "first minute, p99": coldMs, "second, p99": warmMs })),
    figures: times.map(({ name, coldMs, warmMs }) =>
      most(`p99 of the first minute, times warm: ${name}`, 2, rounded(coldMs / warmMs), "", `warm ${warmMs} ms`),
    ),
  };
}
