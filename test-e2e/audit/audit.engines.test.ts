import { test } from "node:test";
import { removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { recipesOfIssuer } from "./recipes/issuer.ts";
import { findsRefusals, walkWrites } from "./walk.ts";
import { openWorld } from "./world.ts";

const startIn = (opened: AsyncDisposableStack) => async (properties: Readonly<Record<string, string>>) => {
  const system = await startEmbeddedSystem({ properties });
  opened.defer(() => removeData(system));
  opened.defer(async () => void (await system.process.kill()));
  return system;
};

test("embedded: every write of every service leaves its entry in the audit, as does a refusal", async () => {
  await using opened = new AsyncDisposableStack();
  const world = await openWorld(opened, startIn(opened));
  await walkWrites(world);
  await findsRefusals(world);
});

test("embedded: so does every write that there is with the built-in issuer alone", async () => {
  await using opened = new AsyncDisposableStack();
  const world = await openWorld(opened, startIn(opened), { hasOwnIssuer: true });
  await walkWrites(world, recipesOfIssuer);
});
