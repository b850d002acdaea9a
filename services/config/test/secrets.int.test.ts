import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { draft, eventOf } from "@signalbox/contracts";
import { publishEvents, type ReceivedRecord } from "@signalbox/events";
import { eventually, internalToken, readStream, type StreamReader, testEventLog, testPerson } from "@signalbox/testing";
import { type Harness, routes, setProperty, startConfig } from "./harness.ts";
import { languages, newSecret, placesOf, secretShapes } from "./secret-shapes.ts";

const [operator, other] = [testPerson({ roles: ["admin"] }), testPerson({ roles: ["admin"] })];
const account = testPerson({ scopes: ["account:read"] });
const audiences = { operator, account, anybody: null };
const topics = ["signalbox.config.v1", "signalbox.config-applied.v1", "signalbox.audit.v1"];

/** The secrets given at the start of the process. */
const started = { headers: newSecret(), token: internalToken, former: newSecret() };
let config: Harness;
const streams: StreamReader[] = [];
const events: { readonly topic: string; readonly text: string }[] = [];
/** The answers to operators, including faults. */
const answers: unknown[] = [];

before(async () => {
  config = await startConfig({
    "telemetry.otlp-headers": `authorization=Bearer ${started.headers}`,
    "internal.token": [internalToken, started.former.padEnd(40, "x")],
  });
  const eventLog = await testEventLog(config.eventsUrl, config.context);
  const onRecord = ({ topic, key, headers, value }: ReceivedRecord) => {
    events.push({ topic, text: [key, JSON.stringify(headers), value].join("\n") });
  };
  const { service, instance } = config.context;
  await eventLog.broadcast({ service: `${service}-secrets`, instance, topics, from: "start", onRecord });
  for (const who of [operator, account]) {
    streams.push(await readStream(`${config.url}/api/v1/config/stream`, { ...who.headers, "last-event-id": "0" }));
  }
});
after(async () => {
  for (const stream of streams) stream.close();
  await config.close();
});

async function mutate(name: string, input: object, type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`) {
  const answer = await config.graphql(
    operator,
    `mutation($input: ${type}!) { ${name}(input: $input) { errors { field message } } }`,
    { input },
  );
  answers.push(answer);
  return answer.errors ?? answer.data[name].errors;
}

const everything = `{
  serverSettings { server { name supportUrl logoUrl color } features deployment { environment release } }
  properties { name value source instances { value source pending { value } } override { value reason } overrides { name value } }
  propertyHistory(name: "server.name", first: 50) { edges { node { before { value } after { value } reason } } }
  changeProposals { reason decisionReason changes { name value } }
  flagHistory(key: "marked", first: 50) { edges { node { reason flag { description owner variants { name value } } } } }
  flags { key description owner reason variants { name value } rules { name } } }`;

/** Collects every output of the service, by its channel. */
async function collectOutputs(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const say = (way: string, what: unknown) => {
    found[way] = `${found[way] ?? ""}\n${typeof what === "string" ? what : JSON.stringify(what)}`;
  };
  const paths = [...routes, ...routes.map((path) => `${path}?unknown=1`), "/openapi/config.json", "/api/v1/none"];
  for (const [audience, who] of Object.entries(audiences)) {
    for (const path of paths) {
      const { status, text, headers } = await config.send(who, path, { headers: { "x-request-id": "searched" } });
      say(status < 400 ? `REST, ${audience}` : "errors", text);
      say("headers", [...headers]);
    }
    if (who === null) continue;
    say(`GraphQL, ${audience}`, await config.graphql(who, everything));
    const question = JSON.stringify({ context: { targetingKey: who.accountId } });
    const flags = "/ofrep/v1/evaluate/flags";
    for (const path of [flags, `${flags}/marked`, `${flags}/none`]) {
      const { text, headers } = await config.post(who, path, question, { "content-type": "application/json" });
      say(`OFREP, ${audience}`, text);
      say("headers", [...headers]);
    }
  }
  say(
    "stream",
    streams.map(({ events, lines }) => [events, lines]),
  );
  say("answers", answers);
  say("logs", config.context.logged);
  say("metrics", await config.context.metrics.text());
  const { configuration } = config.context;
  say("environment", [
    configuration.propertySources(["public", "internal", "sensitive"]),
    configuration.runningValues(),
  ]);
  for (const { topic, text } of events) say(`events, ${topic}`, text);
  return found;
}

/** Tries the text in every field that an operator may write; everything else is valid. */
async function plant(text: string): Promise<Record<string, unknown>> {
  const [name, expectedRevision, reason] = ["server.name", "0", "because"];
  const change = { name, value: "Plain", expectedRevision };
  const flag = { key: "planted", state: "enabled", type: "string", default: "on", off: "on", owner: "us", reason };
  const variants = [{ name: "on", value: "plain" }];
  const set = { ...flag, variants, expectedRevision };
  return {
    value: await mutate("setProperty", { name, value: text, expectedRevision, reason }),
    "value of a link": await mutate("setProperty", { name: "server.support-url", value: text, expectedRevision }),
    "value of the wrong type": await mutate("setProperty", {
      name: "limits.maxPageSize",
      value: text,
      expectedRevision,
    }),
    "value of a list": await mutate("setProperty", { name: "supported.locales", value: [text], expectedRevision }),
    "value of a secret": await mutate("setProperty", { name: "database.url", value: text, expectedRevision }),
    "value of several": await mutate("setProperties", { changes: [{ ...change, value: text }], reason }),
    "value of a proposal": await mutate("proposeChange", { changes: [{ ...change, value: text }], reason }),
    name: await mutate("setProperty", { name: text, value: 1, expectedRevision }),
    "reason of one": await mutate("setProperty", { ...change, reason: text }),
    "reason of several": await mutate("setProperties", { changes: [change], reason: text }),
    "reason of a proposal": await mutate("proposeChange", { changes: [change], reason: text }),
    "reason of a rollback": await mutate("rollback", { toRevision: "0", expectedRevision, reason: text }),
    "flag's value": await mutate("setFlag", { ...set, variants: [{ name: "on", value: text }] }),
    "flag's nested value": await mutate("setFlag", {
      ...set,
      type: "object",
      variants: [{ name: "on", value: { deep: [{ [text]: text }] } }],
    }),
    "flag's owner": await mutate("setFlag", { ...set, owner: text }),
    "flag's description": await mutate("setFlag", { ...set, description: text }),
    "flag's variant": await mutate("setFlag", { ...set, variants: [{ name: text, value: "plain" }], default: text }),
    "flag's rule": await mutate("setFlag", { ...set, rules: [{ name: text, variant: "on", percentage: 1 }] }),
    "flag's key": await mutate("setFlag", { ...set, key: text }),
    "flag's reason": await mutate("setFlag", { ...set, reason: text }),
  };
}

test("the secrets of the process's start are shown nowhere, to no one", async () => {
  const { configuration } = config.context;
  const password = new URL(config.databaseUrl).password;
  const found = await collectOutputs();
  for (const secret of [...Object.values(started), ...(password === "" ? [] : [password])]) {
    assert.ok(
      JSON.stringify([
        configuration.get("telemetry.otlp-headers"),
        configuration.get("internal.token"),
        configuration.get("database.url"),
      ]).includes(secret),
      "planted",
    );
    assert.deepEqual(placesOf([secret], found), []);
  }
  assert.ok(found.environment?.includes("******"), "masked values are listed");
});

test("no text written by an operator accepts a credential of any shape, and a refused one is shown to no one", async () => {
  const planted: string[] = [];
  for (const [shape, write] of Object.entries(secretShapes)) {
    const [language = "none", around = String] =
      Object.entries(languages)[planted.length % Object.keys(languages).length] ?? [];
    const secret = newSecret();
    planted.push(secret);
    for (const [place, refusals] of Object.entries(await plant(around(write(secret))))) {
      assert.ok(Array.isArray(refusals) && refusals.length > 0, `${shape}, ${language}: accepted as ${place}`);
    }
  }
  assert.deepEqual(placesOf(planted, await collectOutputs()), []);
});

test("a visible value is found by the same search, in every channel", async () => {
  const [name, flag, reason] = [newSecret(), newSecret(), newSecret()];
  const revision = (await config.send(operator, "/api/v1/status/config")).body.revision;
  const set = { name: "server.name", value: name, expectedRevision: revision, reason };
  const { data } = await config.graphql(operator, setProperty, { input: { ...set, expectedRevision: "0" } });
  assert.deepEqual(data.setProperty.errors, []);
  const variants = [{ name: "on", value: flag }];
  const basis = { key: "marked", state: "enabled", type: "string", default: "on", off: "on", owner: "tests" };
  assert.deepEqual(await mutate("setFlag", { ...basis, variants, expectedRevision: "0", reason }), []);
  answers.push((await config.graphql(other, everything)).data);
  const shown = (secret: string, ways: readonly string[]) =>
    eventually(async () => {
      const places = placesOf([secret], await collectOutputs());
      assert.deepEqual(
        ways.filter((way) => !places.includes(way)),
        [],
      );
    });
  const both = (way: string) => [`${way}, operator`, `${way}, account`];
  await shown(name, [
    ...both("REST"),
    "REST, anybody",
    ...both("GraphQL"),
    "stream",
    "environment",
    "answers",
    ...topics.slice(0, 2).map((topic) => `events, ${topic}`),
  ]);
  await shown(flag, [...both("OFREP"), "stream", "events, signalbox.config.v1"]);
  await shown(reason, ["GraphQL, operator", "events, signalbox.audit.v1"]);
  await shown("searched", ["headers", "logs", "errors"]);
  assert.match((await collectOutputs()).metrics ?? "", /signalbox_config_revision/);
});

test("a credential that another writer put on the topic is refused by every instance, and shown by none", async () => {
  const eventLog = await testEventLog(config.eventsUrl, config.context);
  const planted: string[] = [];
  let revision = 1_000;
  for (const write of Object.values(secretShapes)) {
    const secret = newSecret();
    planted.push(secret);
    const data = {
      ...eventOf("config.changed").example,
      property: "server.name",
      value: write(secret),
      revision: ++revision,
    };
    await publishEvents({ ...config.context, eventLog }, [
      draft("config.changed", { subject: "server.name", accountId: null, data }),
    ]);
  }
  await eventually(async () => {
    const { body } = await config.send(operator, "/api/v1/status/config");
    return body.revision === String(revision) && body.validation.problems.length > 0;
  });
  const elsewhere = Object.entries(await collectOutputs()).filter(([way]) => way !== "events, signalbox.config.v1");
  assert.deepEqual(placesOf(planted, Object.fromEntries(elsewhere)), []);
});
