import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { services, startEnginesSystem } from "../systems/engines-system.ts";
import { openFaultyEngines } from "../systems/faulty-engines.ts";
import { blobsAway, brokerAway, cacheAway, databaseAway, enginesSilent } from "./engine-outages.ts";
import { killedServices } from "./killed-services.ts";
import { openScene, type Scene, withoutRestarts } from "./scene.ts";
import { accountAway, configAway, subgraphAway } from "./service-outages.ts";

const opened = new AsyncDisposableStack();
let scene: Scene;

before(async () => {
  const engines = await openFaultyEngines();
  opened.defer(() => engines.close());
  const properties = {
    "webhook-delivery.outbound.allow": "127.0.0.1:*",
    // Longer than any attempt here: its receiver answers at once. With the default every death would be waited out.
  };
  const system = await startEnginesSystem({ engines, properties });
  opened.defer(() => system.close());
  scene = await openScene(system, engines);
  opened.defer(() => scene.receiver.close());
});
after(() => opened.disposeAsync());

test("Redis away: requests succeed with local limits", () => withoutRestarts(scene, () => cacheAway(scene)));
test("blob store away: 503 on bytes, records work", () => withoutRestarts(scene, () => blobsAway(scene)));
test("broker away for 30 s: requests succeed, their events arrive after", () =>
  withoutRestarts(scene, () => brokerAway(scene)));
test("database away for 30 s: 503 with Retry-After, nothing is lost, all resumes by itself", () =>
  withoutRestarts(scene, () => databaseAway(scene)));
test("engines that fall silent: nobody waits for ever", () => withoutRestarts(scene, () => enginesSilent(scene)));
test("account service away: known principals work, unseen ones get 503", () => accountAway(scene));
test("config service away: everybody goes on with the last configuration", () => configAway(scene));
test("a subgraph away: a query answers with the rest", () => subgraphAway(scene));
test("every service killed while callers write: whatever was accepted has its event and its delivery", () =>
  killedServices(scene));
test("after all of it every process still stops in order", async () => {
  const codes = await scene.system.stop();
  const failed = services.filter((name) => codes.get(name) !== 0);
  const printed = failed.map((name) => `${name}:\n${scene.system.process(name).current.stdout.slice(-5_000)}`);
  assert.deepEqual(failed, [], printed.join("\n"));
});
