import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isShown, rings } from "../observe/rings.ts";
import { type RunningPrometheus, startPrometheus } from "../observe/start-prometheus.ts";
import { services, startEnginesSystem } from "../systems/engines-system.ts";
import { openFaultyEngines } from "../systems/system-engines.ts";
import { blobsAway, brokerAway, cacheAway, databaseAway, enginesSilent, subgraphSilent } from "./engine-outages.ts";
import { openScene, type Scene, whileAsking, withoutRestarts } from "./scene.ts";

const opened = new AsyncDisposableStack();
let scene: Scene;
let prometheus: RunningPrometheus;

before(async () => {
  const engines = await openFaultyEngines();
  opened.defer(() => engines.close());
  const system = await startEnginesSystem({ engines });
  opened.defer(() => system.close());
  prometheus = await startPrometheus(system.managementUrls);
  opened.defer(() => prometheus.close());
  scene = await openScene(system, engines);
});
after(() => opened.disposeAsync());

/**
 * Each of these outages has an alert whose expression is true during it and false afterwards, and whose page shows its
 * output.
 */
const alerts = (alert: string, outage: (scene: Scene) => Promise<void>) =>
  withoutRestarts(scene, async () => {
    const rang = await rings(prometheus, alert, () => outage(scene));
    await isShown(alert, rang.samples);
  });

test("Redis away: requests succeed with local limits", () => alerts("CacheAway", cacheAway));
test("blob store away: 503 on bytes, records work", () =>
  alerts("BlobsAway", (one) => whileAsking(one, () => blobsAway(one))));
test("broker away for 30 s: requests succeed, their jobs are done after", () => alerts("EventLogAway", brokerAway));
test("database away for 30 s: 503 with Retry-After, all resumes by itself", () =>
  alerts("EdgeAvailability", (one) => whileAsking(one, () => databaseAway(one))));
test("a silent service: the graph answers without its fields", () =>
  withoutRestarts(scene, async () => void (await rings(prometheus, "SubgraphFails", () => subgraphSilent(scene)))));
test("silent engines: no request waits for ever", () => withoutRestarts(scene, () => enginesSilent(scene)));
test("after all of it every process still stops in order", async () => {
  const codes = await scene.system.stop();
  const failed = services.filter((name) => codes.get(name) !== 0);
  const printed = failed.map((name) => `${name}:\n${scene.system.process(name).current.stdout.slice(-5_000)}`);
  assert.deepEqual(failed, [], printed.join("\n"));
});
