import assert from "node:assert/strict";
import { after, test } from "node:test";
import { eventually } from "@signalbox/testing";
import { createClient, expectStatus } from "../journey/client.ts";
import { newDataDirectory, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { type Overridable, overridables, publishOverrides } from "./overridable.ts";

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());

async function start(dataDirectory: string, properties: Readonly<Record<string, string>> = {}) {
  const system = await startEmbeddedSystem({ dataDirectory, properties });
  opened.defer(async () => void (await system.process.kill()));
  const manage = createClient(system.managementUrl, system.apiKey);
  const send = createClient(system.baseUrl, system.apiKey);
  const find = async (name: string) => expectStatus(await manage(`/management/env/${name}`), 200).json;
  const status = async () => expectStatus(await send("/api/v1/status/config"), 200).json;
  return { ...system, send, find, status };
}

/** A value for a higher source: different from the override and, if there is one, equal to the default. */
const valueAbove = ({ declaration, value }: Overridable) => declaration.default ?? Number(value) + 1;

test("a restart applies an override or its removal, unless a source stands above", async () => {
  const dataDirectory = await newDataDirectory();
  opened.defer(() => removeData({ dataDirectory }));
  const properties = await overridables("restart");
  const rateLimit = properties.find(({ address }) => address === "images.http.rate-limit.credential.requests");
  assert.ok(rateLimit, "the list holds what it is about");
  const set = properties.map(({ address, value }) => ({ property: address, set: true, value }));

  const first = await start(dataDirectory);
  await publishOverrides(first.eventsUrl, set, 1);
  await eventually(async () => {
    const { pending_restart: names } = await first.status();
    return names.includes(rateLimit.name) && names;
  });
  const beside = (await first.find(rateLimit.address)).property;
  assert.deepEqual([beside.source, beside.value, beside.pending.value], ["defaults", 600, 601]);
  await first.stop();

  const second = await start(dataDirectory);
  for (const property of properties) {
    const { property: running, propertySources } = await second.find(property.address);
    assert.deepEqual(running, { source: "overrides", value: property.value }, property.address);
    assert.ok(propertySources.some(({ name }: { name: string }) => name === "overrides"));
  }
  await eventually(async () => {
    const { pending_restart: names, services } = await second.status();
    return services.length >= 7 && names.length === 0;
  });
  const { headers } = await second.send("/images");
  assert.match(headers.get("ratelimit-policy") ?? "", /"credential";q=601;/);
  await second.stop();

  const above = Object.fromEntries(properties.map((property) => [property.address, String(valueAbove(property))]));
  const third = await start(dataDirectory, above);
  for (const property of properties) {
    const { property: running } = await third.find(property.address);
    assert.deepEqual(running, { source: "command line", value: valueAbove(property) }, property.address);
  }
  assert.deepEqual(
    (await third.status()).pending_restart,
    [],
    "an override below a higher source waits for no restart",
  );
  await publishOverrides(
    third.eventsUrl,
    set.map((change) => ({ ...change, set: false, value: null })),
    1_000,
  );
  await eventually(async () => (await third.status()).revision === String(999 + set.length));
  await third.stop();

  const fourth = await start(dataDirectory);
  assert.equal(fourth.apiKey, first.apiKey, "the first key stays");
  for (const property of properties) {
    const { property: running } = await fourth.find(property.address);
    const wanted = { source: "defaults", value: property.declaration.default };
    assert.deepEqual(running, wanted, property.address);
  }
  const guess = createClient(fourth.managementUrl, "sbx_live_wrong");
  const statuses: number[] = [];
  for (let at = 0; at < 40; at++) statuses.push((await guess("/management/env")).status);
  assert.deepEqual([...new Set(statuses)], [401, 429], "guesses at the management port are rate-limited");
  await fourth.find("http.port");
});
