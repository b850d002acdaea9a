import { test } from "node:test";
import { startEnginesSystem } from "../systems/engines-system.ts";
import { findsRefusals, walkWrites } from "./walk.ts";
import { openWorld } from "./world.ts";

test("engines: every write of every service leaves its entry in the audit, over Kafka, and so does a refusal", async () => {
  await using opened = new AsyncDisposableStack();
  const world = await openWorld(opened, async (properties) => {
    const system = await startEnginesSystem({ properties });
    opened.defer(() => system.close());
    return system;
  });
  await walkWrites(world);
  await findsRefusals(world);
});
