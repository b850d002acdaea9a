import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { scopesOfRole } from "@signalbox/contracts";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, startConfig } from "./harness.ts";

let config: Harness;
const operator = testPerson();
const ada = testPerson({
  scopes: ["account:read"],
  roles: ["owner"],
  profile: { locale: "de", createdAtMs: Date.now() - 10 * 86_400_000 },
});
const eve = testPerson({ scopes: ["account:read"] });
const bulkPath = "/ofrep/v1/evaluate/flags";

const setFlag = `mutation($input: SetFlagInput!) { setFlag(input: $input) { flag { revision } errors { field message } } }`;
const values = { boolean: false, string: "", integer: 0, float: 0.5, object: { someName: [null] } };
before(async () => {
  config = await startConfig();
  for (const [type, value] of Object.entries(values)) await set(type, { type, variants: [{ name: "off", value }] });
  await set("german", {
    type: "boolean",
    variants: [
      { name: "on", value: true },
      { name: "off", value: false },
    ],
    rules: [{ roles: ["owner"], locales: ["de"], age: { from: 9 }, variant: "on" }],
  });
  await eventually(async () => (await bulk(ada)).body.flags?.length === 6);
});
after(() => config.close());

async function set(key: string, more: object, expectedRevision = "0") {
  const input = {
    key,
    state: "enabled",
    default: "off",
    off: "off",
    owner: "tests",
    reason: "test",
    expectedRevision,
    ...more,
  };
  const { data } = await config.graphql(operator, setFlag, { input });
  assert.deepEqual(data.setFlag.errors, []);
  return data.setFlag.flag.revision as string;
}

interface Question {
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly context?: unknown;
}
async function ask(who: typeof ada | null, path: string, question: Question = {}) {
  const { headers = {}, context = { targetingKey: who?.accountId } } = question;
  const body = question.body ?? JSON.stringify({ context });
  return config.post(who, path, body, { "content-type": "application/json", ...headers });
}
const bulk = (who: typeof ada | null, question?: Question) => ask(who, bulkPath, question);
const single = (key: string, who = ada, question?: Question) => ask(who, `${bulkPath}/${key}`, question);

test("each type is answered unchanged, with variant and reason", async () => {
  for (const [type, value] of Object.entries(values)) {
    const { status, body } = await single(type);
    assert.deepEqual([status, body], [200, { key: type, value, variant: "off", reason: "STATIC" }]);
  }
  assert.equal((await single("german")).body.reason, "TARGETING_MATCH");
});

test("a float without a fraction is written with one, for SDKs with types", async () => {
  await set("rate", { type: "float", variants: [{ name: "off", value: 1 }] });
  const { text } = await eventually(async () => {
    const answer = await single("rate");
    return answer.status === 200 && answer;
  });
  assert.match(text, /"value":1\.0,/);
});

test("the account's own roles, locale and age count, not the claims of its context", async () => {
  const claims = { targetingKey: eve.accountId, roles: ["owner"], locale: "de", createdAt: "2020-01-01T00:00:00Z" };
  assert.equal((await single("german", eve, { context: claims })).body.value, false);
  assert.equal(
    (await single("german", operator, { context: { ...claims, targetingKey: "acc_other" } })).body.value,
    true,
  );
  assert.equal((await single("german", operator, { context: { targetingKey: "acc_other" } })).body.value, false);
});

test("attributes of the program decide, under a validator of their own", async () => {
  await set("plan", {
    type: "boolean",
    variants: [
      { name: "on", value: true },
      { name: "off", value: false },
    ],
    rules: [{ attributes: [{ name: "plan", operator: "==", value: "pro" }], variant: "on" }],
  });
  const asked = (plan: string) => ({ context: { targetingKey: eve.accountId, plan } });
  await eventually(async () => (await single("plan", eve, asked("pro"))).body.value === true);
  assert.equal((await single("plan", eve, asked("free"))).body.value, false);
  const [pro, free] = [await bulk(eve, asked("pro")), await bulk(eve, asked("free"))];
  assert.notEqual(pro.headers.get("etag"), free.headers.get("etag"));
});

test("a client key sees the flags that are marked client, for any user of its app", async () => {
  const browser = testPerson({ scopes: [], kind: "api-key" });
  await set("shop", {
    type: "string",
    client: true,
    variants: [{ name: "off", value: "x" }],
    rules: [{ percentage: 100, by: "targetingKey", variant: "off" }],
  });
  const asked = { context: { targetingKey: "user-7" } };
  await eventually(async () => (await single("shop", browser, asked)).body.reason === "SPLIT");
  const { body } = await bulk(browser, asked);
  assert.deepEqual(
    body.flags.map(({ key }: { key: string }) => key),
    ["shop"],
  );
  assert.equal(body.eventStreams, undefined, "the stream does not admit it");
  const hidden = await single("german", browser, asked);
  assert.deepEqual([hidden.status, hidden.body.errorCode], [404, "FLAG_NOT_FOUND"]);
});

test("a client key reads nothing besides flags", async () => {
  const browser = testPerson({ scopes: [], kind: "api-key" });
  for (const path of ["/api/v1/config/", "/api/v1/config/stream", "/api/v2/settings/"]) {
    const { status, body } = await config.send(browser, path);
    assert.deepEqual([status, body.error.details[0].code], [403, "client_key"], path);
  }
});

test("only config:admin evaluates for another account", async () => {
  const askers = [
    eve,
    testPerson({ scopes: [...scopesOfRole("viewer")] }),
    testPerson({ scopes: [...scopesOfRole("owner")] }),
  ];
  for (const path of [bulkPath, `${bulkPath}/german`]) {
    for (const asker of askers) {
      const { status, body } = await ask(asker, path, { context: { targetingKey: ada.accountId } });
      assert.deepEqual([status, body.error.code], [403, "forbidden"]);
    }
  }
});

test("a fault in a question has OpenFeature's error code", async () => {
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
  const own = { targetingKey: ada.accountId };
  const cases: [Question, string][] = [
    [{ body: "{" }, "PARSE_ERROR"],
    [{ body: "[]" }, "PARSE_ERROR"],
    [{ body: "" }, "PARSE_ERROR"],
    [{ body: "{}" }, "TARGETING_KEY_MISSING"],
    [{ context: null }, "TARGETING_KEY_MISSING"],
    [{ context: {} }, "TARGETING_KEY_MISSING"],
    [{ context: { targetingKey: "" } }, "TARGETING_KEY_MISSING"],
    [{ context: "x" }, "INVALID_CONTEXT"],
    [{ context: [] }, "INVALID_CONTEXT"],
    [{ context: { targetingKey: 7 } }, "INVALID_CONTEXT"],
    [{ body: `\ufeff${JSON.stringify({ context: own })}` }, "PARSE_ERROR"],
    [{ body: `{"context":{"targetingKey":"x","targetingKey":"${own.targetingKey}"}}` }, "PARSE_ERROR"],
    [{ body: `{"context":{"targetingKey":"${own.targetingKey}","n":1e999}}` }, "PARSE_ERROR"],
    [{ context: { ...own, name: "a\u0000" } }, "INVALID_CONTEXT"],
    [{ context: { ...own, name: "\ud800" } }, "INVALID_CONTEXT"],
    [{ context: { ...own, deep: deep(8) } }, "INVALID_CONTEXT"],
    [{ context: { ...own, large: "x".repeat(16 * 1024) } }, "INVALID_CONTEXT"],
  ];
  for (const [question, errorCode] of cases) {
    for (const path of [bulkPath, `${bulkPath}/german`]) {
      const { status, body } = await ask(ada, path, question);
      assert.deepEqual([status, body.errorCode], [400, errorCode], JSON.stringify(question).slice(0, 80));
    }
  }
  assert.equal((await bulk(ada, { context: { ...own, deep: deep(7) } })).status, 200);
  const unknown = await single("no.such");
  assert.deepEqual([unknown.status, unknown.body.errorCode, unknown.body.key], [404, "FLAG_NOT_FOUND", "no.such"]);
  assert.equal((await bulk(null)).status, 401);
  assert.equal((await ask(ada, `${bulkPath}?api_key=x`)).status, 400, "credentials are for headers alone");
  assert.equal((await ask(ada, `${bulkPath}?flagConfigEtag=x&flagConfigLastModified=1`)).status, 200);
  assert.equal((await bulk(ada, { headers: { "content-type": "text/plain" } })).status, 415);
  assert.equal((await config.send(ada, bulkPath)).status, 405);
});

test("the validator is that of flags and account: equal for equal questions, new with each change, never shared", async () => {
  const first = await bulk(ada);
  const etag = first.headers.get("etag") ?? "";
  const again = (who: typeof ada, question: Question = {}) =>
    bulk(who, { ...question, headers: { "if-none-match": `"x", W/${etag}` } });
  const same = await again(ada, { context: { targetingKey: ada.accountId, other: 1 } });
  assert.deepEqual([same.status, same.headers.get("etag"), same.body], [304, etag, null]);
  assert.equal(same.headers.get("cache-control"), "private, no-cache");
  assert.match(same.headers.get("vary") ?? "", /Authorization/);
  assert.equal((await again(eve)).status, 200, "another account has a view of its own");
  const { data } = await config.graphql(operator, "{ flags { key revision } }");
  const { revision } = data.flags.find(({ key }: { key: string }) => key === "integer");
  await set("integer", { type: "integer", variants: [{ name: "off", value: 7 }] }, revision);
  const changed = await eventually(async () => {
    const answer = await again(ada);
    return answer.status === 200 && answer;
  });
  assert.equal(changed.body.flags.find(({ key }: { key: string }) => key === "integer").value, 7);
});

test("the evaluations of a flag are counted by variant, alone or among all", async () => {
  const variants = [
    { name: "on", value: true },
    { name: "off", value: false },
  ];
  const rules = [{ accounts: [ada.accountId], variant: "on" }];
  await set("countedFlag", { type: "boolean", variants, rules });
  await eventually(async () => (await single("countedFlag", eve)).status === 200);
  await single("countedFlag");
  await bulk(ada);
  assert.deepEqual(await eventually(async () => (await totals()).length === 2 && totals()), [2, 1]);
});

/** The evaluations of `countedFlag`, those of the variant `on` first. */
async function totals(): Promise<number[]> {
  const { body } = await config.send(operator, "/api/v1/config/flags/countedFlag/statistics?group_by=variant");
  const query = '{ flags { key statistics(groupBy: "variant") { totals { variant evaluations } } } }';
  const { data } = await config.graphql(operator, query);
  const { statistics } = data.flags.find(({ key }: { key: string }) => key === "countedFlag");
  assert.deepEqual(statistics.totals, body.totals);
  return body.totals.map((total: { evaluations: number }) => total.evaluations);
}

test("a rate-limited caller gets the time to return, like on every other route", async () => {
  const limits = { "http.rate-limit.credential.requests": 5, "http.rate-limit.credential.burst": 5 };
  const own = await startConfig(limits);
  try {
    const body = JSON.stringify({ context: { targetingKey: ada.accountId } });
    const headers = { "content-type": "application/json" };
    const refused = await eventually(async () => {
      const answer = await own.post(ada, bulkPath, body, headers);
      return answer.status === 429 && answer;
    });
    assert.equal(refused.body.error.code, "rate_limited");
    assert.ok(Number(refused.headers.get("retry-after")) >= 1);
  } finally {
    await own.close();
  }
});
