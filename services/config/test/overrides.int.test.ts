import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { hours } from "@signalbox/core";
import { openPool, sql } from "@signalbox/storage";
import { schemaDifference } from "@signalbox/storage/authoring";
import { eventually, type TestPerson, testPerson } from "@signalbox/testing";
import { type Harness, prismaDirectory, setProperty, startConfig, unsetProperty } from "./harness.ts";

let config: Harness;
const operator = testPerson();
before(async () => {
  config = await startConfig();
});
after(() => config.close());

const set = (name: string, value: unknown, expectedRevision = "0", reason: string | null = null) =>
  config.graphql(operator, setProperty, { input: { name, value, expectedRevision, reason } });
const unset = (name: string, expectedRevision: string) =>
  config.graphql(operator, unsetProperty, { input: { name, expectedRevision } });
const codeOf = ({ errors }: { errors?: { extensions: { code: string } }[] }) => errors?.[0]?.extensions.code;

test("an override is applied without a restart, has its author and reason in its event, and is removed again", async () => {
  const { data } = await set("server.name", "Harbour", "0", "A better name");
  const { revision } = data.setProperty.override;
  assert.deepEqual(data.setProperty, { override: { value: "Harbour", revision, reason: "A better name" }, errors: [] });
  const [event] = await config.changesOf("server.name", 1);
  assert.deepEqual(
    { ...event?.data, changed_at: "" },
    {
      property: "server.name",
      set: true,
      value: "Harbour",
      revision: Number(revision),
      secrecy: "public",
      audience: "public",
      actor: operator.accountId,
      reason: "A better name",
      changed_at: "",
      expires_at: null,
    },
  );
  const nameNow = async () => (await config.send(null, "/api/v2/settings/")).body.server.name;
  await eventually(async () => (await nameNow()) === "Harbour");
  assert.equal((await unset("server.name", revision)).data.unsetProperty.override, null);
  await eventually(async () => (await nameNow()) === "Signalbox");
  const [, gone] = await config.changesOf("server.name", 2);
  assert.deepEqual([gone?.data.set, gone?.data.value], [false, null]);
  assert.ok(Number(gone?.data.revision) > Number(revision), "one revision per change");
});

test("when an account is purged its reasons are erased, here and on the log, and its overrides stay active", async () => {
  const { revision } = (await set("server.color", "#112233", "0", "Ada wants it")).data.setProperty.override;
  await unset("server.color", revision);
  await set("server.name", "Quay", "0", "Ada hesitates");
  const changes = [{ name: "defaults.pageSize", value: 20, expectedRevision: "0" }];
  const proposed = await config.graphql(
    operator,
    "mutation($input: ProposeChangeInput!) { proposeChange(input: $input) { proposal { id } } }",
    { input: { changes, reason: "Ada proposes" } },
  );
  const { id } = proposed.data.proposeChange.proposal;
  await config.graphql(
    operator,
    "mutation($input: WithdrawChangeInput!) { withdrawChange(input: $input) { proposal { state } } }",
    { input: { id, reason: "Ada thinks better of it" } },
  );
  await config.purge(operator.accountId);
  const [, , , again] = await config.changesOf("server.name", 4);
  assert.deepEqual([again?.data.reason, again?.data.value, again?.data.set], [null, "Quay", true]);
  const { data } = await config.graphql(operator, "{ properties { name override { value reason revision } } }");
  const { override } = data.properties.find(({ name }: { name: string }) => name === "server.name");
  assert.deepEqual(override, { value: "Quay", reason: null, revision: String(again?.data.revision) });
  const listed = await config.graphql(operator, "{ changeProposals { id reason decisionReason } }");
  assert.deepEqual(listed.data.changeProposals, [{ id, reason: null, decisionReason: null }]);
  const pool = openPool({ ...config.context, url: config.databaseUrl, max: 1, applicationName: "config-tests" });
  const reasons = sql("test.reasons", "select 1 from property_revisions where actor = $1 and reason is not null");
  assert.equal((await pool.query(reasons, [operator.accountId])).rowCount, 0);
});

test("of two operators with the same revision, the second gets a conflict and changes nothing", async () => {
  const { data } = await set("limits.maxPageSize", 60);
  const late = await set("limits.maxPageSize", 70);
  assert.equal(codeOf(late), "CONFLICT");
  assert.equal(codeOf(await unset("limits.maxPageSize", "0")), "CONFLICT");
  assert.equal(codeOf(await unset("defaults.pageSize", "7")), "CONFLICT");
  const { revision } = data.setProperty.override;
  assert.equal((await set("limits.maxPageSize", 80, revision)).data.setProperty.override.value, 80);
  const events = await config.changesOf("limits.maxPageSize", 2);
  assert.deepEqual(
    events.map((event) => event.data.value),
    [60, 80],
  );
});

test("a value that the property refuses is an error in the payload, with the expected value", async () => {
  const wrong = [
    ["limits.maxPageSize", 0, "value", /1/],
    ["limits.maxPageSize", "fifty", "value", /limits\.maxPageSize must be/],
    ["defaults.locale", ["en"], "value", /defaults\.locale must be/],
    ["features.integrations", "on", "value", /enabled/],
    ["features.reports", "enabled", "value", /disabled, because this version serves nothing else/],
    ["server.name", "a\u0000b", "value", /U\+0000/],
    ["server.name", "\ud800", "value", /surrogate/],
    ["server.name", "Har\u202Ebour", "value", /bidirectional/],
    ["server.name", "", "value", /non-empty/],
    ["server.name", "x".repeat(101), "value", /at most 100 characters/],
    ["server.name", "******", "value", /without \*{6}/],
    ["server.support-url", "https://ada:pw@help.example", "value", /without credentials/],
    ["server.name", `ghp_${"x".repeat(36)}`, "value", /without credentials/],
    ["supported.locales", Array.from({ length: 101 }, () => "en"), "value", /at most 100 items/],
  ] as const;
  for (const [name, value, field, message] of wrong) {
    const { data, errors } = await set(name, value);
    assert.equal(errors, undefined);
    assert.equal(data.setProperty.override, null);
    assert.equal(data.setProperty.errors[0].field, field, name);
    assert.match(data.setProperty.errors[0].message, message);
  }
  const { data } = await set("server.name", "x", "seven");
  assert.equal(data.setProperty.errors[0].field, "expectedRevision");
  const reason = await set("server.name", "x", "0", "a\u0000b");
  assert.equal(reason.data.setProperty.errors[0].field, "reason");
});

test("no change breaks a rule between two properties, whichever of them it changes", async () => {
  const own = await startConfig({}, undefined);
  try {
    const setOwn = (name: string, value: unknown, expectedRevision = "0") =>
      own.graphql(operator, setProperty, { input: { name, value, expectedRevision } });
    const refusalOf = ({ data }: Awaited<ReturnType<typeof setOwn>>) => data.setProperty.errors[0]?.message;
    assert.match(refusalOf(await setOwn("limits.maxPageSize", 10)), /defaults\.pageSize must be at most .*which is 10/);
    assert.match(
      refusalOf(await setOwn("defaults.pageSize", 101)),
      /must be at most limits\.maxPageSize, which is 100/,
    );
    assert.match(refusalOf(await setOwn("images.defaults.pageSize", 101)), /at most limits\.maxPageSize/);
    assert.match(refusalOf(await setOwn("supported.locales", ["de"])), /defaults\.locale must be one of .*: de/);
    assert.match(refusalOf(await setOwn("defaults.locale", "xx")), /one of supported\.locales/);
    assert.equal(refusalOf(await setOwn("defaults.locale", "PT-br")), undefined, "it is pt-BR");
    assert.match(refusalOf(await setOwn("supported.imageTypes", [])), /at least 1 items/);
    assert.match(refusalOf(await setOwn("supported.imageTypes", ["image/bmp"])), /a list of: image\/jpeg/);
    const { revision } = (await setOwn("limits.maxPageSize", 500)).data.setProperty.override;
    assert.ok((await setOwn("defaults.pageSize", 300)).data.setProperty.override);
    const removed = await own.graphql(operator, unsetProperty, {
      input: { name: "limits.maxPageSize", expectedRevision: revision },
    });
    assert.match(removed.data.unsetProperty.errors[0].message, /defaults\.pageSize must be at most .*which is 100/);
  } finally {
    await own.close();
  }
});

test("a property that no service has is not found", async () => {
  assert.equal(codeOf(await set("no.such-property", 1)), "NOT_FOUND");
});

test("only config:admin changes properties and only config:read lists them", async () => {
  const input = { name: "server.name", value: "x", expectedRevision: "0" };
  const reader = testPerson({ scopes: ["config:read"] });
  assert.equal(codeOf(await config.graphql(null, setProperty, { input })), "UNAUTHENTICATED");
  assert.equal(codeOf(await config.graphql(reader, setProperty, { input })), "FORBIDDEN");
  const list = "{ properties { name value masked source override { value } } }";
  assert.equal(codeOf(await config.graphql(testPerson({ scopes: [] }), list)), "FORBIDDEN");
  const disabled = testPerson({ state: "disabled" });
  for (const each of [list, "{ serverSettings { locale } }"]) {
    assert.equal(codeOf(await config.graphql(disabled, each)), "FORBIDDEN", "a disabled account reads itself alone");
  }
  const namesFor = async (who: TestPerson): Promise<string[]> =>
    (await config.graphql(who, list)).data.properties.map(({ name }: { name: string }) => name);
  const seen = await namesFor(reader);
  assert.ok(seen.includes("limits.maxPageSize") && seen.includes("server.name"));
  for (const name of ["internal.port", "account.internal-url", "internal.token", "database.pool.max"]) {
    assert.ok(!seen.includes(name), `${name} is for operators alone`);
  }
  const { data } = await config.graphql(operator, list);
  const token = data.properties.find(({ name }: { name: string }) => name === "internal.token");
  assert.deepEqual([token.value, token.masked], [null, true]);
});

test("a change of a property needs a recent sign-in, also its removal", async () => {
  const input = { name: "server.color", value: "#112233", expectedRevision: "0" };
  const asleep = testPerson({ authTimeMs: Date.now() - hours(24) });
  const key = (scopes: ("config:admin" | "account:security")[]) => testPerson({ kind: "api-key", scopes });
  for (const who of [asleep, key(["config:admin"])]) {
    const { errors } = await config.graphql(who, setProperty, { input });
    assert.deepEqual(
      [errors[0].extensions.code, errors[0].extensions.details[0].code],
      [...["FORBIDDEN", "step_up_required"]],
    );
    const { value: _, ...removal } = input;
    assert.equal(codeOf(await config.graphql(who, unsetProperty, { input: removal })), "FORBIDDEN");
  }
  const { data } = await config.graphql(key(["config:admin", "account:security"]), setProperty, { input });
  assert.equal(data.setProperty.override.value, "#112233");
});

test("a second instance applies the overrides at its start and live, and reports its values", async () => {
  await set("features.integrations", "preview");
  await config.changesOf("features.integrations", 1);
  const other = await config.another();
  try {
    assert.equal((await other.send(operator, "/api/v1/config/")).body.features.integrations, "preview");
    const [{ revision: seen } = { revision: "" }] = [
      (await config.graphql(operator, "{ properties { name override { revision } } }")).data.properties.find(
        ({ name }: { name: string }) => name === "features.integrations",
      ).override,
    ];
    const { data } = await set("features.integrations", "deprecated", seen);
    const { revision } = data.setProperty.override;
    const reported = await eventually(async () => {
      const { services } = (await config.send(operator, "/api/v1/status/config")).body;
      return (
        services.length >= 2 && services.every((one: { revision: string }) => one.revision === revision) && services
      );
    });
    const instances = reported.map(({ instance }: { instance: string }) => instance);
    for (const { context } of [config, other]) assert.ok(instances.includes(context.instance));
    const [own, same] = await eventually(async () => {
      const answers = await Promise.all([config, other].map((one) => one.send(operator, "/api/v1/config/")));
      return answers.every(({ body }) => body.features.integrations === "deprecated") && answers;
    });
    assert.equal(own?.headers.get("etag"), same?.headers.get("etag"), "the validator is that of the revision");
  } finally {
    await other.close();
  }
});

test("a change and its event are one transaction", async () => {
  const pool = openPool({ ...config.context, url: config.databaseUrl, max: 1, applicationName: "config-tests" });
  await pool.query(sql("test.break", "alter table signalbox.outbox rename to outbox_away"));
  const broken = await set("defaults.pageSize", 30);
  await pool.query(sql("test.mend", "alter table signalbox.outbox_away rename to outbox"));
  assert.equal(codeOf(broken), "INTERNAL");
  const { data } = await set("defaults.pageSize", 40);
  assert.equal(data.setProperty.override.value, 40, "the failed change left no override behind");
  const [event] = await config.changesOf("defaults.pageSize", 1);
  assert.equal(event?.data.value, 40);
});

test("the migrations match the Prisma schema", async () => {
  assert.equal(await schemaDifference(prismaDirectory, config.databaseUrl), "");
});

test("the current changes are announced again, so that a late record of an older change is not the last on the log", async () => {
  const { revision } = (await set("server.logo-url", "https://example.org/logo.png")).data.setProperty.override;
  const pool = openPool({ ...config.context, url: config.databaseUrl, max: 1, applicationName: "config-tests" });
  await pool.query(sql("test.past", "update property_revisions set changed_at = changed_at - interval '2 hours'"));
  const another = await config.another();
  await eventually(async () => {
    const changes = await config.changesOf("server.logo-url", 1);
    return changes.filter((event) => String(event.data.revision) === revision).length > 1;
  });
  await another.close();
});
