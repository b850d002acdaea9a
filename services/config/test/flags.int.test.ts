import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, startConfig } from "./harness.ts";

let config: Harness;
const operator = testPerson();
before(async () => {
  config = await startConfig();
});
after(() => config.close());

const members = `key state type description default off owner expires salt revision reason variants { name value }
  rules { name accounts roles locales attributes { name operator value } percentage by variant age { from to } }
  prerequisites { flag variants } schedule { from until }`;
const outcome = "revision instances applied errors { field message }";
const documents = {
  setFlag: `mutation($input: SetFlagInput!) { setFlag(input: $input) { flag { ${members} } ${outcome} } }`,
  archiveFlag: `mutation($input: ArchiveFlagInput!) { archiveFlag(input: $input) { flag { key } ${outcome} } }`,
};
async function send(name: keyof typeof documents, input: object, who = operator) {
  const { data, errors } = await config.graphql(who, documents[name], { input });
  return { ...data?.[name], refusal: errors?.[0]?.extensions.code, top: errors?.[0]?.message };
}
let flags = 0;
const draftOf = (more: object = {}) => ({
  key: `flag${++flags}`,
  state: "enabled",
  type: "string",
  owner: "payments",
  reason: "tried out",
  variants: [
    { name: "camelCase", value: "A" },
    { name: "snake_case", value: "B" },
  ],
  default: "camelCase",
  off: "snake_case",
  expectedRevision: "0",
  ...more,
});
const set = (more: object = {}, who = operator) => send("setFlag", draftOf(more), who);
const all = async (who = operator) => (await config.graphql(who, `{ flags { ${members} } }`)).data?.flags;
const find = async (key: string) => (await all()).find((flag: { key: string }) => flag.key === key);
const status = async () => (await config.send(operator, "/api/v1/status/config")).body;

const history = `query($key: String!, $first: Int, $after: String) { flagHistory(key: $key, first: $first, after: $after) {
  pageInfo { hasNextPage endCursor } edges { node { revision actor credential reason flag { state revision salt } } } } }`;
async function historyOf(key: string, range: object = {}, who = operator) {
  const { data, errors } = await config.graphql(who, history, { key, ...range });
  const { pageInfo, edges = [] } = data?.flagHistory ?? {};
  return { pageInfo, refusal: errors?.[0]?.extensions.code, changes: edges.map(({ node }: { node: object }) => node) };
}

test("the history of a flag has each former version with its author and reason, page by page, also once it is archived", async () => {
  const { flag: first } = await set({ key: "past", reason: "added" });
  const { flag: second } = await set({
    key: "past",
    state: "disabled",
    reason: "it breaks",
    expectedRevision: first.revision,
  });
  await send("archiveFlag", { key: "past", expectedRevision: second.revision, reason: "unused" });
  const { changes, pageInfo } = await historyOf("past", { first: 2 });
  const by = { actor: operator.accountId, credential: operator.principal.credential.id };
  const [archived, disabled] = changes;
  assert.deepEqual([archived.flag, archived.reason], [null, "unused"]);
  const { revision, salt } = second;
  assert.deepEqual(disabled, { revision, ...by, reason: "it breaks", flag: { state: "disabled", revision, salt } });
  assert.equal(pageInfo.hasNextPage, true);
  const rest = await historyOf("past", { first: 2, after: pageInfo.endCursor });
  assert.deepEqual([rest.changes.length, rest.changes[0].reason, rest.changes[0].flag.state], [1, "added", "enabled"]);
  assert.deepEqual((await historyOf("none")).changes, []);
  const forged = Buffer.from(JSON.stringify(["2026-01-01T00:00:00.000Z", "no.revision"])).toString("base64url");
  assert.equal((await historyOf("past", { after: forged })).refusal, "VALIDATION_FAILED");
  const reader = testPerson({ scopes: ["config:read"] });
  assert.equal((await historyOf("past", {}, reader)).refusal, "FORBIDDEN");
});

test("a key is kept as other flag services write it", async () => {
  for (const key of ["newCheckout", "My-Flag", "2fa.enabled", "legacy_flag"]) {
    assert.deepEqual((await set({ key })).errors, [], key);
    assert.equal((await find(key)).key, key);
  }
});

test("a flag is stored as written, has its event, and shares its revisions with the properties", async () => {
  const rules = [
    {
      name: "staff",
      accounts: ["acc_1"],
      roles: ["admin"],
      locales: ["pt-BR"],
      attributes: [{ name: "app.version", operator: "sem_ver", value: "^1.2.0" }],
      percentage: 12.345,
      by: "userId",
      variant: "camelCase",
    },
    { age: { from: 3 }, variant: "snake_case" },
  ];
  const schedule = { from: "2026-01-01T00:00:00.000Z", until: null };
  const written = { from: "2026-01-01t01:00:00+01:00", until: null };
  const { flag, errors } = await set({ key: "whole", rules, schedule: written, expires: "2026-12-31", salt: "mine" });
  assert.deepEqual(errors, []);
  assert.deepEqual([flag.variants, flag.schedule, flag.salt], [draftOf().variants, schedule, "mine"]);
  assert.deepEqual(flag.rules, [
    { ...rules[0], age: null },
    {
      name: null,
      accounts: null,
      roles: null,
      locales: null,
      attributes: null,
      percentage: null,
      by: null,
      age: { from: 3, to: null },
      variant: "snake_case",
    },
  ]);
  assert.deepEqual(await find("whole"), flag);
  await eventually(async () => (await status()).revision === flag.revision);
});

test("with waitForMs the answer comes when every instance evaluates with the change, as with properties", async () => {
  const evaluated = async () => {
    const body = JSON.stringify({ context: { targetingKey: operator.accountId } });
    const answer = await config.post(operator, "/ofrep/v1/evaluate/flags/awaited", body, {
      "content-type": "application/json",
    });
    return answer.status === 404 ? null : answer.body.value;
  };
  let expectedRevision = "0";
  for (let round = 0; round < 8; round++) {
    const [variant, value] = round % 2 === 0 ? ["camelCase", "A"] : ["snake_case", "B"];
    const made = await set({ key: "awaited", default: variant, expectedRevision, waitForMs: 10_000 });
    assert.deepEqual([made.errors, made.revision, made.applied], [[], made.flag.revision, made.instances]);
    assert.ok(made.instances > 0);
    assert.equal(await evaluated(), value, `round ${round}`);
    expectedRevision = made.revision;
  }
  const tried = await set({ key: "awaited", expectedRevision, dryRun: true, waitForMs: 10_000 });
  assert.deepEqual([tried.revision, tried.flag, tried.applied], [null, null, 0]);
  const input = { key: "awaited", expectedRevision, reason: "over", waitForMs: 10_000 };
  const archived = await send("archiveFlag", input);
  assert.deepEqual([archived.errors, archived.flag, archived.applied], [[], null, archived.instances]);
  assert.ok(BigInt(archived.revision) > BigInt(expectedRevision));
  assert.equal(await evaluated(), null);
  assert.equal((await set({ waitForMs: 10_001 })).errors[0].field, "waitForMs");
});

test("every type keeps its values apart, including the members of objects", async () => {
  const values = {
    boolean: false,
    string: "",
    integer: 0,
    float: 0.25,
    object: { someName: [null, { innerName: 1 }] },
  };
  for (const [type, value] of Object.entries(values)) {
    const { flag, errors } = await set({ type, variants: [{ name: "v", value }], default: "v", off: "v" });
    assert.deepEqual(errors, [], type);
    assert.deepEqual((await find(flag.key)).variants, [{ name: "v", value }]);
  }
});

test("a flag is changed only at the revision that the caller has seen, and keeps its salt and its type", async () => {
  const first = (await set({ key: "seen" })).flag;
  assert.equal((await set({ key: "seen" })).refusal, "CONFLICT");
  const second = (await set({ key: "seen", state: "disabled", expectedRevision: first.revision })).flag;
  assert.deepEqual([second.state, second.salt], ["disabled", first.salt]);
  const other = await set({
    key: "seen",
    expectedRevision: second.revision,
    type: "integer",
    variants: [{ name: "v", value: 1 }],
    default: "v",
    off: "v",
  });
  assert.equal(other.errors[0].field, "type");
});

test("loops, unknown variants and wrong values are refused with their location, and a dry run leaves nothing", async () => {
  const base = (await set({ key: "base" })).flag;
  const wants = (flag: string, variants = ["camelCase"]) => ({ prerequisites: [{ flag, variants }] });
  await set({ key: "next", ...wants("base") });
  const attribute = (name: string, operator: string, value: unknown) => ({
    rules: [{ attributes: [{ name, operator, value }], variant: "camelCase" }],
  });
  const wrong: [object, string][] = [
    [{ key: "base", expectedRevision: base.revision, ...wants("next") }, "prerequisites[0].flag"],
    [wants("none"), "prerequisites[0].flag"],
    [wants("base", ["x"]), "prerequisites[0].flag"],
    [{ default: "x" }, "default"],
    [{ rules: [{ variant: "x" }] }, "rules[0].variant"],
    [{ rules: [{ percentage: 101, variant: "camelCase" }] }, "rules[0].percentage"],
    [{ rules: [{ roles: ["king"], variant: "camelCase" }] }, "rules[0].roles[0]"],
    [{ rules: [{ accounts: [], variant: "camelCase" }] }, "rules[0].accounts"],
    [attribute("plan", "like", "p"), "rules[0].attributes[0].operator"],
    [attribute("plan", "==", { a: 1 }), "rules[0].attributes[0].value"],
    [attribute("plan", "in", "pro"), "rules[0].attributes[0].value"],
    [attribute("roles", "==", "admin"), "rules[0].attributes[0].name"],
    [attribute("a b", "==", 1), "rules[0].attributes[0].name"],
    [
      {
        variants: [
          { name: "camelCase", value: 1 },
          { name: "snake_case", value: "B" },
        ],
      },
      "variants[0].value",
    ],
    [{ key: "with space" }, "key"],
    [{ key: "-leading" }, "key"],
    [{ owner: "" }, "owner"],
    [{ expires: "soon" }, "expires"],
    [
      {
        variants: [
          { name: "camelCase", value: "sbx_live_abcdefgh" },
          { name: "snake_case", value: "B" },
        ],
      },
      "variants[0].value",
    ],
    [
      {
        key: "base",
        expectedRevision: base.revision,
        variants: [{ name: "snake_case", value: "B" }],
        default: "snake_case",
      },
      "variants",
    ],
  ];
  for (const [more, field] of wrong) {
    const { flag, errors, top } = await set(more);
    assert.deepEqual(
      [flag, errors?.[0]?.field],
      [null, field],
      `${JSON.stringify(more)} ${top} ${JSON.stringify(errors)}`,
    );
  }
  const before = await all();
  assert.deepEqual((await set({ dryRun: true })).errors, []);
  assert.deepEqual(await all(), before);
});

test("an archived flag is missing, unless another one depends on it", async () => {
  const one = (await set({ key: "one" })).flag;
  const two = (await set({ key: "two", prerequisites: [{ flag: "one", variants: ["camelCase"] }] })).flag;
  const archive = (key: string, expectedRevision: string) =>
    send("archiveFlag", { key, expectedRevision, reason: "done" });
  assert.match((await archive("one", one.revision)).errors[0].message, /two depends on one/);
  assert.equal((await archive("two", "0")).refusal, "CONFLICT");
  assert.deepEqual((await archive("two", two.revision)).errors, []);
  assert.deepEqual((await archive("one", one.revision)).errors, []);
  assert.equal(await find("one"), undefined);
  assert.equal((await archive("one", "0")).refusal, "NOT_FOUND");
});

test("only operators read and change flags, and changes need a recent sign-in", async () => {
  const owner = testPerson({ scopes: ["config:read"] });
  assert.equal((await config.graphql(owner, "{ flags { key } }")).errors?.[0]?.extensions.code, "FORBIDDEN");
  assert.equal((await set({}, owner)).refusal, "FORBIDDEN");
  const asleep = testPerson({ authTimeMs: Date.now() - 24 * 3_600_000 });
  assert.equal((await set({}, asleep)).refusal, "FORBIDDEN");
});

test("the status lists expired flags", async () => {
  await set({ key: "overdue", expires: "2026-01-01" });
  await eventually(async () => (await status()).stale_flags.includes("overdue"));
});

test("a second instance knows the flags from its start", async () => {
  const { flag } = await set({ key: "known", expires: "2026-01-01" });
  const other = await config.another();
  try {
    const { body } = await other.send(operator, "/api/v1/status/config");
    assert.ok(body.stale_flags.includes("known"), `at revision ${flag.revision}`);
  } finally {
    await other.close();
  }
});
