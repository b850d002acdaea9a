import { test } from "node:test";
import { startEmbeddedIn } from "../systems/embedded-system.ts";
import { recipesOfIssuer } from "./recipes/issuer.ts";
import { findsRefusals, walkWrites } from "./walk.ts";
import { openWorld } from "./world.ts";

test("embedded: every write of every service leaves its entry in the audit, as does a refusal", async () => {
  await using opened = new AsyncDisposableStack();
  const world = await openWorld(opened, (properties) => startEmbeddedIn(opened, properties));
  await walkWrites(world);
  await findsRefusals(world);
});

test("embedded: so does every write that there is with the built-in issuer alone", async () => {
  await using opened = new AsyncDisposableStack();
  const start = (properties: Readonly<Record<string, string>>) => startEmbeddedIn(opened, properties);
  await walkWrites(await openWorld(opened, start, { hasOwnIssuer: true }), recipesOfIssuer);
});
