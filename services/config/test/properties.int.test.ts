import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { PropertyDeclaration } from "@signalbox/runtime";
import { eventually, testPerson } from "@signalbox/testing";
import { properties as declared } from "../src/properties.ts";
import { type Harness, setProperty, startConfig, unsetProperty } from "./harness.ts";

let config: Harness;
const operator = testPerson();
before(async () => {
  config = await startConfig();
});
after(() => config.close());

const list = `{ properties { name services type unit secrecy audience reload overridable effect value masked source
  bounds { min max choices maxLength atMost nullable }
  instances { service instance value masked source pending { value revision } }
  override { name value masked revision } overrides { name value } } }`;
const listed = async (who = operator) => (await config.graphql(who, list)).data.properties;
const find = async (name: string) => (await listed()).find((each: { name: string }) => each.name === name);
const set = async (name: string, value: unknown, expectedRevision = "0") =>
  (await config.graphql(operator, setProperty, { input: { name, value, expectedRevision } })).data.setProperty;

test("an operator sees every property of every service with its declaration", async () => {
  const names: string[] = (await listed()).map(({ name }: { name: string }) => name);
  for (const name of Object.keys(declared)) assert.ok(names.includes(name), name);
  for (const name of ["images.import.deadline", "webhook-ingest.tolerance", "graphql.limits.mode"]) {
    assert.ok(names.includes(name), `${name} of another service`);
  }
  const { instances, ...pageSize } = await find("defaults.pageSize");
  assert.ok(pageSize.services.includes("account") && pageSize.services.includes("images"));
  assert.deepEqual(
    { ...pageSize, services: [] },
    {
      name: "defaults.pageSize",
      services: [],
      type: "integer",
      unit: null,
      secrecy: "public",
      audience: "public",
      reload: "live",
      overridable: true,
      value: 20,
      masked: false,
      source: "defaults",
      effect: "Number of items on a page without an explicit number.",
      override: null,
      overrides: [],
      bounds: { min: 1, max: 1000, choices: null, maxLength: null, atMost: "limits.maxPageSize", nullable: false },
    },
  );
});

test("every instance of every service is shown with its values and those that wait for its start", async () => {
  await config.report({
    values: {
      "webhook-ingest.tolerance": { value: 60_000, source: "command line" },
      "images.import.deadline": { value: 5_000, source: "defaults", pending: { value: 7_000, revision: 3 } },
      "blobs.url": { value: "******", source: "environment" },
    },
  });
  const found = await eventually(async () => {
    const tolerance = await find("webhook-ingest.tolerance");
    return tolerance.instances.length === 1 && tolerance;
  });
  assert.deepEqual([found.value, found.source], [60_000, "command line"]);
  const [waiting] = (await find("images.import.deadline")).instances;
  assert.deepEqual(waiting, {
    service: "images",
    instance: "images-1",
    value: 5_000,
    masked: false,
    source: "defaults",
    pending: { value: 7_000, revision: "3" },
  });
  const [hidden] = (await find("blobs.url")).instances;
  assert.deepEqual([hidden.value, hidden.masked], [null, true]);
});

test("absent, null, an empty text, an empty list, false and 0 are six different overrides", async () => {
  const cases = [
    ["server.logo-url", null],
    ["capabilities.imageImport", false],
    ["images.cache.private", 0],
  ] as const;
  for (const [name, value] of cases) {
    const { override, errors } = await set(name, value);
    assert.deepEqual(errors, [], name);
    const { override: shown } = await find(name);
    assert.deepEqual([shown.value, shown.masked], [value, false], name);
    const [event] = await config.changesOf(name, 1);
    assert.deepEqual([event?.data.value, event?.data.set], [value, true], name);
    await config.graphql(operator, unsetProperty, { input: { name, expectedRevision: override.revision } });
    assert.equal((await find(name)).override, null, "absent again");
    for (const other of ["", []]) assert.match((await set(name, other)).errors[0].message, /must be/, name);
  }
});

test("null is a value only of properties that allow none, and an absent value is refused", async () => {
  const { revision } = (await set("server.support-url", "https://help.example")).override;
  const cleared = await set("server.support-url", null, revision);
  assert.deepEqual([cleared.override.value, cleared.errors], [null, []]);
  await eventually(async () => {
    const { source, value } = await find("server.support-url");
    return source === "overrides" && value === null;
  });
  assert.match((await set("server.name", null)).errors[0].message, /server\.name must be/);
  const absent = await config.graphql(operator, setProperty, { input: { name: "server.name", expectedRevision: "0" } });
  assert.equal(absent.data.setProperty.errors[0].field, "value");
});

test("the settings show each member to the audience of its property, and operators the most", async () => {
  const account = testPerson({ scopes: [] });
  const seenBy = async (who: typeof operator | null) => (await config.send(who, "/api/v2/settings/")).body;
  const [anonymous, owner, admin] = await Promise.all([seenBy(null), seenBy(account), seenBy(operator)]);
  const declaration = (name: string): PropertyDeclaration | undefined =>
    Object.entries(declared).find(([n]) => n === name)?.[1];
  const audienceOf = (name: string) => declaration(name)?.audience;
  assert.deepEqual(Object.keys(anonymous), ["server", "locale", "limits"]);
  assert.equal(audienceOf("features.integrations"), "account");
  assert.deepEqual(Object.keys(owner.features), ["integrations", "reports"]);
  assert.deepEqual(owner.deployment, { environment: "development" });
  assert.deepEqual(Object.keys(admin.deployment), ["environment", "release", "commit", "region"]);
  for (const name of ["deployment.release", "deployment.commit", "deployment.region"]) {
    assert.equal(audienceOf(name), "operator");
  }
  const { data } = await config.graphql(account, "{ serverSettings { deployment { environment release } } }");
  assert.deepEqual(data.serverSettings.deployment, { environment: "development", release: null });
});
