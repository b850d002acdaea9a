import assert from "node:assert/strict";
import { after, test } from "node:test";
import { eventually } from "@signalbox/testing";
import { createClient, expectStatus } from "../journey/client.ts";
import { newDataDirectory, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { type Overridable, overridables, publishOverrides } from "./overridable.ts";

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());

/** Given above the overrides of its bare name, and so not outvoted by them. */
const above = { "events.publish-timeout": "4000" };

async function start(dataDirectory: string) {
  const system = await startEmbeddedSystem({ dataDirectory, properties: above });
  opened.defer(async () => void (await system.process.kill()));
  const manage = createClient(system.managementUrl, system.apiKey);
  const send = createClient(system.baseUrl, system.apiKey);
  const find = async (name: string) => expectStatus(await manage(`/management/env/${name}`), 200).json;
  const status = async () => expectStatus(await send("/api/v1/status/config"), 200).json;
  return { ...system, send, find, status };
}

/** Overridden by its name in every service, where another source stands above it. */
const isAbove = ({ name }: Overridable) => name in above;

test("a property that needs a restart takes its override with it, unless a source stands above, and gives it back", async () => {
  const dataDirectory = await newDataDirectory();
  opened.defer(() => removeData({ dataDirectory }));
  const properties = await overridables("restart");
  const rateLimit = properties.find(({ address }) => address === "images.http.rate-limit.credential.requests");
  assert.ok(rateLimit && properties.some(isAbove), "the list holds what it is about");
  const set = properties.map((property) => ({
    ...{ property: isAbove(property) ? property.name : property.address, set: true, value: property.value },
  }));

  const first = await start(dataDirectory);
  await publishOverrides(first.eventsUrl, set, 1);
  const waiting = await eventually(async () => {
    const { pending_restart: names } = await first.status();
    return names.includes(rateLimit.name) && names;
  });
  assert.ok(!waiting.includes("events.publish-timeout"));
  const beside = (await first.find(rateLimit.address)).property;
  assert.deepEqual([beside.source, beside.value, beside.pending.value], ["defaults", 600, 601]);
  await first.stop();

  const second = await start(dataDirectory);
  for (const property of properties) {
    const { property: running, propertySources } = await second.find(property.address);
    const wanted = isAbove(property)
      ? { source: "command line", value: 4000 }
      : { source: "overrides", value: property.value };
    assert.deepEqual(running, wanted, property.address);
    assert.ok(propertySources.some(({ name }: { name: string }) => name === "overrides"));
  }
  await eventually(async () => {
    const { pending_restart: names, services } = await second.status();
    return services.length >= 7 && names.length === 0;
  });
  const { headers } = await second.send("/images");
  assert.match(headers.get("ratelimit-policy") ?? "", /"credential";q=601;/);
  await publishOverrides(
    second.eventsUrl,
    set.map((change) => ({ ...change, set: false, value: null })),
    1_000,
  );
  await second.stop();

  const third = await start(dataDirectory);
  assert.equal(third.apiKey, first.apiKey, "the first key stays");
  for (const property of properties) {
    const { property: running } = await third.find(property.address);
    assert.equal(running.source, isAbove(property) ? "command line" : "defaults", property.address);
  }
  const guess = createClient(third.managementUrl, "sbx_live_wrong");
  const statuses: number[] = [];
  for (let at = 0; at < 40; at++) statuses.push((await guess("/management/env")).status);
  assert.deepEqual([...new Set(statuses)], [401, 429], "whoever guesses at the management is told to wait");
  await third.find("http.port");
});
