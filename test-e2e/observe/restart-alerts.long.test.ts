import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createReceiver, freePort } from "@signalbox/testing";
import { hurriedRules } from "../incidents/hurried-rules.ts";
import { createClient, expectStatus } from "../journey/client.ts";
import { shiftedClock } from "../ledger/faults/killed-processes.ts";
import { type EmbeddedSystem, newDataDirectory, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { execute, fire } from "./alert-drill.ts";
import { type RunningPrometheus, startPrometheus } from "./start-prometheus.ts";

/** Faults of a start, which the next one does not have. */
const alerts = ["ClockOff", "FormerKeysInUse", "OutboundProxyAway"];
const [port, otherPort] = [String(await freePort()), String(await freePort())];
let dataDirectory: string;
let system: EmbeddedSystem;
let prometheus: RunningPrometheus;

const start = (properties: Readonly<Record<string, string>>, variables: Readonly<Record<string, string>> = {}) =>
  startEmbeddedSystem({
    dataDirectory,
    properties: {
      "management.server.port": port,
      "webhook-delivery.outbound.allow": "127.0.0.1:*",
      ...properties,
    },
    variables,
  });

before(async () => {
  dataDirectory = await newDataDirectory();
  system = await start({});
  const urls = new Map([port, otherPort].map((one) => [one, `http://127.0.0.1:${one}`]));
  prometheus = await startPrometheus(urls, [], { rules: hurriedRules(...alerts, "VersionsMixed"), everySeconds: 2 });
});
after(async () => {
  await prometheus.close();
  await system.stop();
  await removeData({ dataDirectory });
});

test("a machine whose clock is wrong, a key that is missing, a proxy that is away", async () => {
  const send = createClient(system.baseUrl, system.apiKey);
  const type = "drill.asked";
  expectStatus(await send("/api/v1/webhooks/event-types", { body: { name: type } }), 201);
  const receiver = await createReceiver();
  const endpoint = { url: receiver.url, event_types: [type] };
  expectStatus(await send("/api/v1/webhooks/endpoints", { body: endpoint }), 201);
  const source = { name: "Drill", scheme: "github", secret: "a-secret-of-the-drill-01" };
  expectStatus(await send("/api/v1/webhooks/sources", { body: source }), 201);
  const rename = (from: string, to: string) =>
    execute(
      system.databaseUrl("webhook-ingest"),
      `update sources set sealed_secret = replace(sealed_secret, '${from}', '${to}')`,
    );
  // As if a key had been given up while a text still needed it.
  await rename("v1.", "v1.former-");
  await system.stop();
  const proxy = { "webhook-delivery.outbound.proxy": `http://127.0.0.1:${await freePort()}` };
  system = await start(proxy, { NODE_OPTIONS: `--import=${shiftedClock(120_000)}` });
  const publish = () =>
    createClient(system.baseUrl, system.apiKey)("/api/v1/webhooks/events", { body: { type, data: {} } });
  const mend = async () => {
    await rename("v1.former-", "v1.");
    await system.stop();
    system = await start({});
  };
  await fire(prometheus, alerts, { act: publish, mend });
  await receiver.close();
});

test("two versions at once", async () => {
  const other = await startEmbeddedSystem({
    properties: { "management.server.port": otherPort, "deployment.release": "0.1.9" },
  });
  const mend = async () => {
    await other.stop();
    await removeData(other);
  };
  await fire(prometheus, ["VersionsMixed"], { act: () => sleep(500), mend });
});
