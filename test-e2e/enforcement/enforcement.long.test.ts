import { test } from "node:test";
import { createOidcIssuer } from "@signalbox/testing";
import { type EmbeddedSystem, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { runEnforcement, trusting } from "./enforcement.ts";

test("embedded: suspensions and revocations hold everywhere within two seconds and survive kill -9", async () => {
  await using opened = new AsyncDisposableStack();
  const issuer = await createOidcIssuer();
  opened.defer(() => issuer.close());
  const properties = trusting(issuer);
  let system: EmbeddedSystem = await startEmbeddedSystem({ properties });
  opened.defer(() => removeData(system));
  opened.defer(async () => void (await system.process.kill()));

  await runEnforcement({
    issuer,
    system,
    restart: async () => {
      await system.process.kill();
      system = await startEmbeddedSystem({ properties, dataDirectory: system.dataDirectory });
      return system;
    },
  });
});
