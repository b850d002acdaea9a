import { test } from "node:test";
import { removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { findsRefusals, walkWrites } from "./walk.ts";
import { openWorld } from "./world.ts";

test("embedded: every write of every service leaves its entry in the audit, and so does a refusal", async () => {
  await using opened = new AsyncDisposableStack();
  const world = await openWorld(opened, async (properties) => {
    const system = await startEmbeddedSystem({ properties });
    opened.defer(() => removeData(system));
    opened.defer(async () => void (await system.process.kill()));
    return system;
  });
  await walkWrites(world);
  await findsRefusals(world);
});
