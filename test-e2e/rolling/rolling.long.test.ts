import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { environment } from "@signalbox/runtime";
import { eventually } from "@signalbox/testing";
import type { LogRecord } from "../ledger/evidence.ts";
import { type RollingSystem, startRollingSystem } from "./rolling-system.ts";
import { drainOf, explained, inOrder, startTraffic, wrongEvents } from "./traffic.ts";

/** The rate that two cores carry while processes start beside it; a dedicated machine carries 200. */
const perSecond = Number(environment().ROLLING_RATE ?? 20);
const idleDrainMsMax = 5_000;

const opened = new AsyncDisposableStack();
let system: RollingSystem;

before(async () => {
  system = await startRollingSystem();
  opened.defer(() => system.close());
});
after(() => opened.disposeAsync());

test("rolling every service under traffic fails no request, with one event for every change", async (t) => {
  const traffic = await startTraffic(system.edge.url, system.administratorKey, perSecond);
  t.after(() => traffic.end());
  for (const instance of inOrder(system)) {
    assert.equal(await instance.stop(), 0, `${instance.name}: ${instance.output.slice(-4_000)}`);
    const drain = drainOf(instance);
    assert.ok(drain, `${instance.name} says what its drain waited for`);
    assert.ok("http listener" in drain.in_hand || instance.program.service === "image-worker", JSON.stringify(drain));
    t.diagnostic(`${instance.name}: ${JSON.stringify(drain)}`);
    await instance.start();
  }
  const { asked, changes, failures } = await traffic.end();
  assert.deepEqual(await explained(failures, system), [], `${failures.length} of ${asked} requests failed`);
  const records: LogRecord[] = [];
  await eventually(async () => {
    records.push(...(await system.log.read()));
    assert.deepEqual(wrongEvents(changes, records), []);
  });
});

test("an instance that has nothing to do is drained within five seconds", async (t) => {
  const codes = await Promise.all(system.instances.map((instance) => instance.stop()));
  for (const [index, instance] of system.instances.entries()) {
    assert.equal(codes[index], 0, instance.output.slice(-4_000));
    const { duration_ms, parts_ms } = drainOf(instance) ?? assert.fail(instance.output.slice(-4_000));
    t.diagnostic(`${instance.name}: ${duration_ms} ms`);
    assert.ok(duration_ms <= idleDrainMsMax, `${instance.name} took ${duration_ms} ms: ${JSON.stringify(parts_ms)}`);
  }
});
