import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openPool, sql } from "@signalbox/storage";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, startConfig } from "./harness.ts";

let config: Harness;
let pool: ReturnType<typeof openPool>;
const [ada, grace] = [testPerson(), testPerson()];
before(async () => {
  config = await startConfig();
  pool = openPool({ ...config.context, url: config.databaseUrl, max: 1, applicationName: "config-tests" });
});
after(() => config.close());

const results =
  "revision results { name value masked shadowedBy appliesAt instances applied } errors { field code message }";
const documents = {
  setProperties: `mutation($input: SetPropertiesInput!) { setProperties(input: $input) { ${results} } }`,
  rollback: `mutation($input: RollbackInput!) { rollback(input: $input) { ${results} } }`,
  proposeChange: `mutation($input: ProposeChangeInput!) { proposeChange(input: $input) {
    proposal { id state author changes { name value unset } } errors { field message } } }`,
  approveChange: `mutation($input: ApproveChangeInput!) { approveChange(input: $input) {
    proposal { state decidedBy revision } results { name value applied } errors { field message } } }`,
  withdrawChange: `mutation($input: WithdrawChangeInput!) { withdrawChange(input: $input) {
    proposal { state decidedBy decisionReason } errors { field message } } }`,
};
const send = async (name: keyof typeof documents, input: object, who = ada, on = config) => {
  const { data, errors } = await on.graphql(who, documents[name], { input });
  return { ...data?.[name], refusal: errors?.[0]?.extensions.code };
};
type Given = readonly [name: string, value?: unknown];
const overrides = async (
  on = config,
): Promise<Record<string, { value: unknown; revision: string; expiresAt: string | null }>> => {
  const { data } = await on.graphql(ada, "{ properties { name overrides { name value revision expiresAt } } }");
  const all = data.properties.flatMap((each: { overrides: { name: string }[] }) => each.overrides);
  return Object.fromEntries(all.map((each: { name: string }) => [each.name, each]));
};
/** Changes properties based on their current revisions. */
async function changes(given: readonly Given[], on = config) {
  const now = await overrides(on);
  return given.map(([name, value]) => ({
    name,
    expectedRevision: now[name]?.revision ?? "0",
    ...(value === undefined ? { unset: true } : { value }),
  }));
}
const change = async (given: readonly Given[], more: object = {}, on = config) =>
  send("setProperties", { changes: await changes(given, on), reason: "tried out", ...more }, ada, on);
const valuesNow = async (on = config) =>
  Object.fromEntries(Object.entries(await overrides(on)).map(([name, { value }]) => [name, value]));

test("changes are made together, in one revision that every event and the audit name", async () => {
  const {
    revision,
    results: outcomes,
    errors,
  } = await change(
    [
      ["limits.maxPageSize", 500],
      ["defaults.pageSize", 300],
    ],
    { waitForMs: 10_000 },
  );
  assert.deepEqual(errors, []);
  const instances = { instances: 1, applied: 1, masked: false, shadowedBy: null, appliesAt: "LIVE" };
  assert.deepEqual(outcomes, [
    { name: "limits.maxPageSize", value: 500, ...instances },
    { name: "defaults.pageSize", value: 300, ...instances },
  ]);
  for (const name of ["limits.maxPageSize", "defaults.pageSize"]) {
    const [event] = await config.changesOf(name, 1);
    assert.deepEqual([event?.data.revision, event?.data.together], [Number(revision), 2]);
  }
  const { limits, defaults } = (await config.send(ada, "/api/v1/config/")).body;
  assert.deepEqual([limits.maxPageSize, defaults.pageSize], [500, 300], "applied means the awaited value");
  const status = (await config.send(ada, "/api/v1/status/config")).body;
  assert.equal(status.revision, revision);
});

test("one invalid change undoes all of them, and every failing member is named", async () => {
  const before = await overrides();
  const wrong = await change([
    ["server.name", "Quay"],
    ["server.color", "red"],
  ]);
  assert.deepEqual([wrong.revision, wrong.errors[0].field], [null, "changes[1].value"]);
  const twice = await change([
    ["server.name", "Quay"],
    ["server.name", "Pier"],
  ]);
  assert.equal(twice.errors[0].field, "changes[1].name");
  const ruleBroken = await change([
    ["limits.maxPageSize", 10],
    ["server.name", "Quay"],
  ]);
  assert.match(ruleBroken.errors[0].message, /defaults\.pageSize must be at most/);
  const stale = await send("setProperties", {
    changes: [
      { name: "server.name", value: "Quay", expectedRevision: "0" },
      { name: "limits.maxPageSize", value: 501, expectedRevision: "0" },
    ],
    reason: "late",
  });
  assert.equal(stale.refusal, "CONFLICT");
  const given = await changes([
    ["no.such", 1],
    ["server.name", "Quay"],
    ["server.color", "red"],
    ["internal.token", "x"],
    ["server.name", "Pier"],
    ["nor.this"],
  ]);
  const late = { name: "limits.maxUploadBytes", value: 1_000_000, expectedRevision: "7" };
  const many = await send("setProperties", { changes: [...given, late], reason: "x" });
  const told = many.errors.map(({ field, code }: Record<string, string>) => [field, code]);
  assert.deepEqual(told, [
    ["changes[0].name", "unknown_member"],
    ["changes[2].value", "invalid_value"],
    ["changes[3].name", "not_allowed"],
    ["changes[4].name", "repeated"],
    ["changes[5].name", "unknown_member"],
    ["changes[6].expectedRevision", "invalid_value"],
  ]);
  const names = ["no.such", "server.color", "internal.token", "server.name", "nor.this", "limits.maxUploadBytes"];
  for (const [at, name] of names.entries()) assert.ok(many.errors[at].message.includes(name), many.errors[at].message);
  const neither = await send("setProperties", {
    changes: [{ name: "server.name", expectedRevision: "0" }],
    reason: "x",
  });
  assert.equal(neither.errors[0].field, "changes[0].value");
  assert.equal((await change([["server.name", "Quay"]], { reason: " " })).errors[0].field, "reason");
  assert.equal((await change([["server.name", "Quay"]], { waitForMs: 10_001 })).errors[0].field, "waitForMs");
  assert.deepEqual(await overrides(), before);
});

test("a dry run validates like the change itself and leaves nothing", async () => {
  const before = await overrides();
  const tried = await change(
    [
      ["server.name", "Quay"],
      ["database.pool.max", 7],
    ],
    { dryRun: true },
  );
  assert.equal(tried.revision, null);
  assert.deepEqual(
    tried.results.map(({ value, appliesAt, applied }: Record<string, unknown>) => [value, appliesAt, applied]),
    [
      ["Quay", "LIVE", 0],
      [7, "RESTART", 0],
    ],
  );
  assert.equal((await change([["server.color", "red"]], { dryRun: true })).errors[0].field, "changes[0].value");
  assert.deepEqual(await overrides(), before);
});

test("the answer names a source with precedence, and a required restart", async () => {
  await config.report({
    service: "webhook-ingest",
    instance: "ingest-1",
    values: { "webhook-ingest.tolerance": { value: 60_000, source: "command line" } },
  });
  const outcomes = await eventually(async () => {
    const { results: now } = await change(
      [
        ["webhook-ingest.tolerance", 30_000],
        ["auth.principals.cache-max", 500],
      ],
      { dryRun: true },
    );
    return now[0].instances === 1 && now;
  });
  assert.deepEqual([outcomes[0].shadowedBy, outcomes[0].value], ["command line", 60_000]);
  assert.deepEqual([outcomes[1].shadowedBy, outcomes[1].value, outcomes[1].appliesAt], [null, 500, "RESTART"]);
});

test("a temporary change expires: the last permanent value is restored, in one revision", async () => {
  await change([["server.name", "Harbour"]]);
  const soon = () => new Date(Date.now() + 60_000).toISOString();
  const temporary: Given[] = [
    ["server.name", "Open day"],
    ["server.color", "#ff0000"],
  ];
  await change(temporary, { expiresAt: soon() });
  await change([["server.name", "Open night"]], { expiresAt: soon() });
  assert.ok((await overrides())["server.name"]?.expiresAt);
  await pool.query(sql("test.over", "update property_overrides set expires_at = now() where expires_at is not null"));
  await eventually(async () => (await valuesNow())["server.name"] === "Harbour");
  assert.equal((await valuesNow())["server.color"], undefined);
  const events = await config.changesOf("server.color", 2);
  assert.deepEqual([events[1]?.data.set, events[1]?.data.actor], [false, "system"]);
  for (const [expiresAt, given] of [
    ["2020-01-01T00:00:00Z", "x"],
    ["2999-01-01T00:00:00Z", "x"],
    [soon(), undefined],
  ] as const) {
    assert.equal((await change([["server.name", given]], { expiresAt })).errors[0].field, "expiresAt");
  }
});

test("a temporary change that cannot be undone stays, and the status shows the reason", async () => {
  const own = await startConfig();
  try {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    await change([["limits.maxPageSize", 900]], { expiresAt }, own);
    await change([["defaults.pageSize", 800]], {}, own);
    const ownPool = openPool({ ...own.context, url: own.databaseUrl, max: 1, applicationName: "config-tests" });
    await ownPool.query(
      sql("test.over", "update property_overrides set expires_at = now() where expires_at is not null"),
    );
    await eventually(async () => {
      const { validation } = (await own.send(ada, "/api/v1/status/config")).body;
      return /an expired override is still active: .*defaults\.pageSize/.test(validation.problems.join());
    });
    await change([["defaults.pageSize"]], {}, own);
    await eventually(async () => (await valuesNow(own))["limits.maxPageSize"] === undefined);
  } finally {
    await own.close();
  }
});

test("a rollback is a new revision with the old values, including overrides removed since", async () => {
  const own = await startConfig();
  try {
    const { revision: first } = await change(
      [
        ["server.name", "One"],
        ["defaults.pageSize", 30],
      ],
      {},
      own,
    );
    await change(
      [
        ["server.name", "Two"],
        ["server.color", "#123456"],
      ],
      {},
      own,
    );
    const { revision: last } = await change([["defaults.pageSize"]], {}, own);
    const late = await send("rollback", { toRevision: first, expectedRevision: first, reason: "back" }, ada, own);
    assert.equal(late.refusal, "CONFLICT");
    const back = await send("rollback", { toRevision: first, expectedRevision: last, reason: "back" }, ada, own);
    assert.deepEqual([back.errors, Number(back.revision)], [[], Number(last) + 1]);
    assert.deepEqual(await valuesNow(own), { "server.name": "One", "defaults.pageSize": 30 });
    const again = await send("rollback", { toRevision: first, expectedRevision: back.revision, reason: "x" }, ada, own);
    assert.deepEqual([again.revision, again.results], [null, []], "nothing differs, so nothing is changed");
    const zero = await send(
      "rollback",
      { toRevision: "0", expectedRevision: back.revision, reason: "start anew" },
      ada,
      own,
    );
    assert.deepEqual([zero.errors, await valuesNow(own)], [[], {}]);
    const unknown = await send(
      "rollback",
      { toRevision: "99", expectedRevision: zero.revision, reason: "x" },
      ada,
      own,
    );
    assert.equal(unknown.refusal, "NOT_FOUND");
  } finally {
    await own.close();
  }
});

test("a rollback over a temporary value that has expired restores the permanent one below it", async () => {
  const own = await startConfig();
  try {
    await change([["server.name", "Perm"]], {}, own);
    const expiresAt = new Date(Date.now() + 1_000).toISOString();
    const { revision: temporary } = await change([["server.name", "Temp"]], { expiresAt }, own);
    const { revision: last } = await change([["server.name", "Now"]], {}, own);
    await eventually(() => new Date().toISOString() > expiresAt);
    const back = await send("rollback", { toRevision: temporary, expectedRevision: last, reason: "back" }, ada, own);
    assert.deepEqual([back.errors, await valuesNow(own)], [[], { "server.name": "Perm" }]);
  } finally {
    await own.close();
  }
});

test("the history of a property shows old and new value, actor, credential and reason, page by page", async () => {
  const history = `query($name: String!, $first: Int, $after: String) {
    propertyHistory(name: $name, first: $first, after: $after) { pageInfo { hasNextPage endCursor } edges { node {
      revision before { set value masked } after { set value masked } actor credential reason requestId } } } }`;
  const read = async (variables: object) =>
    (await config.graphql(ada, history, { name: "server.support-url", ...variables })).data.propertyHistory;
  await change([["server.support-url", "https://one.example"]], { reason: "first" });
  await change([["server.support-url", null]], { reason: "second" });
  await change([["server.support-url"]], { reason: "third" });
  const { edges, pageInfo } = await read({ first: 2 });
  const [third, second] = edges.map(({ node }: { node: object }) => node);
  assert.deepEqual(third.before, { set: true, value: null, masked: false });
  assert.deepEqual(third.after, { set: false, value: null, masked: false });
  assert.deepEqual(second.before, { set: true, value: "https://one.example", masked: false });
  assert.deepEqual(
    [second.reason, second.actor, second.credential],
    ["second", ada.accountId, ada.principal.credential.id],
  );
  assert.equal(second.requestId, null, "this caller of the subgraph names no request");
  assert.equal(pageInfo.hasNextPage, true);
  const rest = await read({ first: 2, after: pageInfo.endCursor });
  assert.deepEqual(
    rest.edges.map(({ node }: { node: { reason: string } }) => node.reason),
    ["first"],
  );
  assert.deepEqual(rest.edges[0].node.before, { set: false, value: null, masked: false });
});

test("a proposal and its approval are tried without an effect, and a rejection tells the author why", async () => {
  const own = await startConfig({ "config.approval": "guarded" });
  try {
    const asked = { changes: await changes([["webhook-ingest.tolerance", 60_000]], own), reason: "replays" };
    const wrong = { changes: await changes([["webhook-ingest.tolerance", 1]], own), reason: "replays" };
    const tried = await send("proposeChange", { ...asked, dryRun: true }, ada, own);
    assert.deepEqual([tried.proposal, tried.errors], [null, []]);
    const refused = await send("proposeChange", { ...wrong, dryRun: true }, ada, own);
    assert.equal(refused.errors[0].field, "changes[0].value");
    const listed = async () => (await own.graphql(ada, "{ changeProposals { id state } }")).data.changeProposals;
    assert.deepEqual(await listed(), []);

    const { proposal } = await send("proposeChange", asked, ada, own);
    const { id } = proposal;
    assert.equal((await send("approveChange", { id, dryRun: true }, ada, own)).refusal, "FORBIDDEN");
    const judged = await send("approveChange", { id, dryRun: true }, grace, own);
    assert.deepEqual([judged.proposal.state, judged.results, judged.errors], ["open", [], []]);
    assert.equal((await valuesNow(own))["webhook-ingest.tolerance"], undefined);

    const reason = "Partners repeat for longer.";
    const secret = await send("withdrawChange", { id, reason: "Bearer 7Yb0cPq7TnV2sKxW9mRdLh" }, grace, own);
    assert.equal(secret.errors[0].field, "reason");
    const rejected = (await send("withdrawChange", { id, reason }, grace, own)).proposal;
    assert.deepEqual(rejected, { state: "withdrawn", decidedBy: grace.accountId, decisionReason: reason });
    assert.equal((await send("approveChange", { id, dryRun: true }, grace, own)).refusal, "CONFLICT");
  } finally {
    await own.close();
  }
});

const readProposal = async (id: string, own: Harness) => {
  const read = "query($id: ID!) { changeProposal(id: $id) { changes { value before { set value masked } } } }";
  return (await own.graphql(ada, read, { id })).data.changeProposal;
};

test("proposals are listed page by page, narrowed by their outcome, and by a part of a name or of the reason", async () => {
  const own = await startConfig();
  const query = `query($outcome: ProposalOutcome, $text: String, $first: Int, $after: String) {
    proposals(outcome: $outcome, text: $text, first: $first, after: $after) {
      pageInfo { hasNextPage endCursor } edges { node { reason } } } }`;
  const page = async (variables: object) => {
    const { edges, pageInfo } = (await own.graphql(ada, query, variables)).data.proposals;
    return { reasons: edges.map(({ node }: { node: { reason: string } }) => node.reason), ...pageInfo };
  };
  try {
    const ids = new Map<string, string>();
    for (const [reason, name] of [
      ["stays open", "server.name"],
      ["is 100% right", "webhook-ingest.tolerance"],
      ["is wrong", "server.name"],
      ["was a slip", "server.name"],
    ] as const) {
      const wanted: Given = name === "server.name" ? [name, reason] : [name, 60_000];
      const { proposal } = await send("proposeChange", { changes: await changes([wanted], own), reason }, ada, own);
      ids.set(reason, proposal.id);
    }
    await send("approveChange", { id: ids.get("is 100% right") }, grace, own);
    await send("withdrawChange", { id: ids.get("is wrong"), reason: "No." }, grace, own);
    await send("withdrawChange", { id: ids.get("was a slip") }, ada, own);

    const first = await page({ first: 3 });
    assert.deepEqual([first.reasons, first.hasNextPage], [["was a slip", "is wrong", "is 100% right"], true]);
    const last = await page({ first: 3, after: first.endCursor });
    assert.deepEqual([last.reasons, last.hasNextPage], [["stays open"], false]);
    for (const [filter, reasons] of [
      [{ outcome: "open" }, ["stays open"]],
      [{ outcome: "approved" }, ["is 100% right"]],
      [{ outcome: "rejected" }, ["is wrong"]],
      [{ outcome: "withdrawn" }, ["was a slip"]],
      [{ text: "TOLERANCE" }, ["is 100% right"]],
      [{ text: "0%" }, ["is 100% right"]],
      [{ text: "%is%" }, []],
      [{ text: "is", outcome: "rejected" }, ["is wrong"]],
    ] as const) {
      assert.deepEqual((await page(filter)).reasons, reasons, JSON.stringify(filter));
    }
    const stranger = await own.graphql(testPerson({ scopes: ["config:read"] }), query);
    assert.equal(stranger.errors?.[0].extensions.code, "FORBIDDEN");
  } finally {
    await own.close();
  }
});

test("a guarded property needs a second operator, who is never the author", async () => {
  const own = await startConfig({ "config.approval": "guarded" });
  try {
    const guarded: Given[] = [["webhook-ingest.tolerance", 60_000]];
    const alone = await change(guarded, {}, own);
    assert.match(alone.errors[0].message, /proposes?|propose the change/);
    assert.deepEqual((await change([["server.name", "Free"]], {}, own)).errors, []);
    const asked = { changes: await changes(guarded, own), reason: "replays" };
    const { proposal } = await send("proposeChange", asked, ada, own);
    assert.deepEqual([proposal.state, proposal.author, proposal.changes[0].value], ["open", ada.accountId, 60_000]);
    assert.equal((await send("approveChange", { id: proposal.id }, ada, own)).refusal, "FORBIDDEN");
    const approved = await send("approveChange", { id: proposal.id }, grace, own);
    assert.deepEqual([approved.proposal.state, approved.proposal.decidedBy], ["approved", grace.accountId]);
    assert.equal((await valuesNow(own))["webhook-ingest.tolerance"], 60_000);
    assert.equal((await send("approveChange", { id: proposal.id }, grace, own)).refusal, "CONFLICT");
    const undo = await send(
      "rollback",
      { toRevision: "0", expectedRevision: approved.proposal.revision, reason: "x" },
      ada,
      own,
    );
    assert.match(undo.errors[0].message, /two operators/, "a rollback does not bypass the rule");

    const changeOf = (value: unknown) => ({ value, before: { set: false, value: null, masked: false } });
    const decided = await readProposal(proposal.id, own);
    assert.deepEqual(decided.changes, [changeOf(60_000)], "no override held at the decision");
    const stale = (
      await send("proposeChange", { changes: await changes([["server.name", "Later"]], own), reason: "x" }, ada, own)
    ).proposal;
    await change([["server.name", "Sooner"]], {}, own);
    assert.equal((await send("approveChange", { id: stale.id }, grace, own)).refusal, "CONFLICT");
    assert.equal((await send("withdrawChange", { id: stale.id }, ada, own)).proposal.state, "withdrawn");
    assert.equal((await send("approveChange", { id: "chg_none" }, grace, own)).refusal, "NOT_FOUND");
    assert.equal(await readProposal("chg_none", own), null);
    await change([["server.name", "Latest"]], {}, own);
    const { changes: kept } = await readProposal(stale.id, own);
    assert.deepEqual(kept, [{ value: "Later", before: { set: true, value: "Sooner", masked: false } }]);
    const { data } = await own.graphql(ada, "{ changeProposals { id state } }");
    assert.deepEqual(
      data.changeProposals.map(({ state }: { state: string }) => state),
      ["withdrawn", "approved"],
    );
  } finally {
    await own.close();
  }
});
