import { test } from "node:test";
import { createOidcIssuer } from "@signalbox/testing";
import { services, startEnginesSystem } from "../systems/engines-system.ts";
import { runEnforcement, trusting } from "./enforcement.ts";

test("engines: suspensions and revocations hold everywhere within two seconds, over Kafka, and survive kill -9", async () => {
  await using opened = new AsyncDisposableStack();
  const issuer = await createOidcIssuer();
  opened.defer(() => issuer.close());
  const system = await startEnginesSystem({ properties: trusting(issuer) });
  opened.defer(() => system.close());

  await runEnforcement({
    issuer,
    system,
    restart: async () => {
      const processes = services.map((service) => system.process(service));
      await Promise.all(processes.map(({ current }) => current.kill()));
      await Promise.all(processes.map((process) => process.restart()));
      return system;
    },
  });
});
