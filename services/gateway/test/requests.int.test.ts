import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import type { EventData } from "@signalbox/contracts";
import { principalHeader } from "@signalbox/http";
import { eventually, readEvents, type TestAnswer, type TestPerson, testPerson } from "@signalbox/testing";
import { type Harness, startGateway } from "./harness.ts";

let gateway: Harness;
const person = testPerson();
before(async () => {
  gateway = await startGateway({ "graphql.document-cache.bytes-max": 64 * 1_024 });
});
after(() => gateway.close());

const codeOf = ({ body }: { body: { errors?: { extensions: { code: string } }[] } }) =>
  body.errors?.[0]?.extensions.code;
const modern = { accept: "application/graphql-response+json" };
const repeat = (count: number, of: (n: number) => string) => Array.from({ length: count }, (_, n) => of(n)).join(" ");

test("every limit refuses with its own code before anything is fetched", async () => {
  const before = gateway.subgraphs.get("config")?.heard.length;
  const doubling = repeat(20, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`);
  const documents = {
    LIMIT_DEPTH: `{ __schema { types { ${"ofType { ".repeat(20)} name ${"} ".repeat(20)} } } }`,
    LIMIT_ALIASES: `{ serverSettings { ${repeat(31, (n) => `a${n}: locale`)} } }`,
    LIMIT_ROOT_FIELDS: `{ ${repeat(21, () => "serverSettings { locale }")} }`,
    LIMIT_DIRECTIVES: `{ serverSettings { locale ${repeat(51, () => "@skip(if: false)")} } }`,
    LIMIT_TOKENS: `{ serverSettings { ${"locale ".repeat(4_001)} } }`,
    LIMIT_COST: `{ ...F0 } ${doubling} fragment F20 on Query { serverSettings { locale } }`,
  };
  for (const [code, document] of Object.entries(documents)) {
    const answer = await gateway.query(person, document, { headers: modern });
    assert.deepEqual([answer.status, codeOf(answer)], [400, code], code);
    assert.ok(!answer.body.errors[0].message.startsWith("Syntax Error"), code);
  }
  assert.equal(gateway.subgraphs.get("config")?.heard.length, before);
});

test("documents that do not parse, do not validate or do not choose an operation are VALIDATION_FAILED", async () => {
  for (const query of ["{", "{ nothing }", "query A { __typename } query B { __typename }", "subscription { x }", ""]) {
    const [plain, answer] = [
      await gateway.query(person, query),
      await gateway.query(person, query, { headers: modern }),
    ];
    assert.deepEqual([plain.status, codeOf(plain)], [200, "VALIDATION_FAILED"], query);
    assert.deepEqual([answer.status, codeOf(answer)], [400, "VALIDATION_FAILED"], query);
  }
});

test("a text that is no time is refused before a subgraph is asked, naming where it stands", async () => {
  const heard = () => [...gateway.subgraphs.values()].reduce((sum, { heard }) => sum + heard.length, 0);
  const before = heard();
  const from = (value: string) => `{ viewer { id webhookDeliveries(from: ${value}) { edges { cursor } } } }`;
  const withVariable = `query ($since: DateTime) ${from("$since")}`;
  const refused: readonly [string, object, RegExp][] = [
    [from('"2026-02-30T00:00:00Z"'), {}, /^"from" is "2026-02-30T00:00:00Z", which is not a DateTime: use RFC 3339/],
    [from("5"), {}, /^"from" is 5, which/],
    [`query ($since: DateTime = "today") ${from("$since")}`, {}, /^"\$since" is "today", which/],
    [withVariable, { since: "2026-01-31 12:00" }, /^Variable "\$since" got invalid value "2026-01-31 12:00"/],
    [withVariable, { since: 7 }, /^Variable "\$since" got invalid value 7/],
  ];
  for (const [query, variables, message] of refused) {
    const { body } = await gateway.query(person, query, { variables });
    assert.deepEqual([body.errors.length, codeOf({ body })], [1, "VALIDATION_FAILED"], query);
    assert.match(body.errors[0].message, message);
  }
  assert.equal(heard(), before);
  const { body } = await gateway.query(person, withVariable, {
    variables: { since: "2026-01-31t12:00:00.123456+01:00" },
  });
  assert.equal(body.errors, undefined);
});

test("a sixth why is refused by its own code, beside the answers of the others", async () => {
  const asked = repeat(6, (n) => `w${n}: why(id: "acc_none") { service }`);
  const { body } = await gateway.query(person, `{ ${asked} serverSettings { locale } }`);
  const sixth = body.errors.filter(({ path }: { path: string[] }) => path[0] === "w5");
  assert.deepEqual(
    sixth.map(({ message, extensions }: { message: string; extensions: object }) => [message, extensions]),
    [["An operation has at most 5 fields `why`.", { code: "LIMIT_ROOT_FIELDS" }]],
  );
  assert.equal(body.data.serverSettings.locale, "en");
});

test("empty parameters of a GET are absent", async () => {
  const empty = "variables=&operationName=&extensions=&documentId=";
  const answer = await fetch(`${gateway.url}/graphql?query={__typename}&${empty}`);
  assert.deepEqual([answer.status, await answer.json()], [200, { data: { __typename: "Query" } }]);
});

test("malformed requests are refused in the form of a GraphQL answer", async () => {
  for (const body of [
    "",
    "no json",
    "[]",
    "null",
    "{}",
    '{"query":1}',
    '{"query":"{ __typename }","variables":[]}',
    '{"query":"{ __typename }","extensions":1}',
  ]) {
    const answer = await gateway.post(body);
    assert.deepEqual([answer.status, codeOf(answer)], [400, "VALIDATION_FAILED"], body);
  }
  const batch = await gateway.post(JSON.stringify([{ query: "{ __typename }" }, { query: "{ __typename }" }]));
  assert.equal(batch.status, 400);
});

test("a media type other than JSON is 415; one that cannot be written is 406", async () => {
  const body = JSON.stringify({ query: "{ __typename }" });
  const types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"];
  for (const type of [...types, "application/json; charset=iso-8859-1", "application/json; charset=utf-16"]) {
    const answer = await gateway.post(body, { "content-type": type });
    assert.deepEqual([answer.status, codeOf(answer)], [415, "VALIDATION_FAILED"], type);
  }
  const unwritable = await gateway.post(body, { accept: "text/html" });
  assert.deepEqual([unwritable.status, codeOf(unwritable)], [406, "VALIDATION_FAILED"]);
  const answer = await gateway.post(body, modern);
  assert.match(answer.headers.get("content-type") ?? "", /^application\/graphql-response\+json/);
});

test("bytes that are not UTF-8 and members named twice are refused, as on REST", async () => {
  const bodies: Record<string, Buffer> = {
    "not UTF-8": Buffer.from('{"query":"{ a(x: "\xe9") }"}', "latin1"),
    "a byte order mark": Buffer.from('\ufeff{"query":"{ __typename }"}'),
    "a name twice": Buffer.from('{"query":"{ __typename }","query":"{ viewer { id } }"}'),
    "a variable twice": Buffer.from('{"query":"{ __typename }","variables":{"a":1,"a":2}}'),
  };
  for (const [what, body] of Object.entries(bodies)) {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${gateway.url}/graphql`, { method: "POST", headers, body: new Uint8Array(body) });
    const { errors } = (await answer.json()) as { errors: { extensions: { code: string } }[] };
    assert.deepEqual([answer.status, errors[0]?.extensions.code], [400, "VALIDATION_FAILED"], what);
  }
  const query = await fetch(`${gateway.url}/graphql?query=%7B%20__typename%20%7D%ff`);
  assert.equal(query.status, 400);
});

test("a refusal before there is an operation keeps its status, with a code and the request id", async () => {
  const query = "{ viewer { id } }";
  const tooLarge = JSON.stringify({ query: "#".repeat(2 ** 20) });
  const headers = { "x-request-id": "find-me" };
  const refusals: [number, string, TestAnswer][] = [
    [401, "UNAUTHENTICATED", await gateway.query(null, query, { headers: { ...headers, authorization: "Bearer x" } })],
    [403, "FORBIDDEN", await gateway.query(testPerson({ state: "deleted" }), query, { headers })],
    [413, "VALIDATION_FAILED", await gateway.post(tooLarge, headers)],
  ];
  for (const [status, code, answer] of refusals) {
    assert.equal(answer.status, status, answer.text);
    const [{ message, extensions }] = answer.body.errors;
    assert.deepEqual([typeof message, extensions.code, extensions.request_id], ["string", code, "find-me"]);
    assert.deepEqual(Object.keys(answer.body), ["errors"]);
  }
  assert.match(refusals[0]?.[2].headers.get("www-authenticate") ?? "", /^Bearer/);
  const method = await fetch(`${gateway.url}/graphql`, { method: "PUT" });
  assert.deepEqual([method.status, method.headers.get("allow")], [405, "POST, GET, HEAD, OPTIONS"]);
  assert.equal(((await method.json()) as TestAnswer["body"]).errors[0].extensions.code, "VALIDATION_FAILED");
});

test("GET is for queries, and 405 for mutations", async () => {
  assert.deepEqual((await gateway.get("{ serverSettings { locale } }")).body, {
    data: { serverSettings: { locale: "en" } },
  });
  const mutation = await gateway.get('mutation { updateAccount(input: {displayName: "x"}) { account { id } } }');
  assert.equal(mutation.status, 405);
  assert.match(mutation.headers.get("allow") ?? "", /POST/);
});

test("GET is refused across sites or with credentials that a browser sends by itself", async () => {
  const basic = `Basic ${Buffer.from(`x:${person.token}`).toString("base64")}`;
  const ambient = [{ cookie: "session=1" }, { authorization: basic }, { "sec-fetch-site": "cross-site" }];
  for (const headers of ambient) {
    const answer = await gateway.get("{ viewer { id } }", headers);
    assert.deepEqual([answer.status, codeOf(answer)], [403, "FORBIDDEN"], JSON.stringify(headers));
  }
  const deliberate = await gateway.get("{ viewer { id } }", person.headers);
  assert.equal(deliberate.body.data.viewer.id, person.accountId);
});

test("a document is answered alike however often it comes, among however many others", async () => {
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 6; n++) {
      const { body } = await gateway.query(person, `query Q${n} { serverSettings { locale } }`);
      assert.deepEqual(body, { data: { serverSettings: { locale: "en" } } });
    }
  }
});

// Last: it uses up what the address of these tests may do.
test("whoever asks too often is told to wait, in the form of an answer", async () => {
  const asked = await Promise.all(Array.from({ length: 130 }, () => gateway.post('{"query":"{ __typename }"}')));
  const limited = asked.find(({ status }) => status === 429) ?? assert.fail("nobody was told to wait");
  const { code, retryAfterSeconds } = limited.body.errors[0].extensions;
  assert.deepEqual([code, String(retryAfterSeconds)], ["RATE_LIMITED", limited.headers.get("retry-after")]);
});

test("a read of the gateway's management env is in the audit of its reader, although it has no database", async () => {
  const who = testPerson();
  const audit = await readEvents(gateway.eventLog, gateway.context, ["signalbox.audit.v1"]);
  const reader = await gateway.authorizeManagement(who.headers, "203.0.113.9");
  assert.ok(typeof reader === "object");
  reader.recordRead();
  const entries = (await audit.eventsOf(who.accountId, 1)).map(({ data }) => data as EventData<"audit.recorded">);
  assert.deepEqual(
    entries.map(({ action, subject }) => [action, subject]),
    [["management.read_env", "gateway"]],
  );
});

afterEach(() => {
  for (const subgraph of gateway.subgraphs.values()) subgraph.instead = null;
});

/** The one line of the request with this id, without what every request has. */
async function lineOf(requestId: string) {
  const line = await eventually(
    () => gateway.context.logged.find((one) => one.request_id === requestId && one.msg === "request") ?? null,
  );
  return {
    operationType: line.operation_type,
    operationName: line.operation_name,
    outcome: line.outcome,
    errorCodes: line.error_codes,
    errors: line.errors,
    failedSubgraphs: line.failed_subgraphs,
    slowFetches: line.slow_fetches,
  };
}

const ask = (requestId: string, query: string) =>
  gateway.query(person, query, { headers: { "x-request-id": requestId } });

test("the line of a request names its operation and the outcome, though the status is 200", async () => {
  await ask("r-ok", "query Mine { viewer { id } }");
  assert.deepEqual(await lineOf("r-ok"), {
    operationType: "query",
    operationName: "Mine",
    outcome: "ok",
    errorCodes: undefined,
    errors: undefined,
    failedSubgraphs: undefined,
    slowFetches: undefined,
  });
  await ask("r-refused", "query Wrong { nothing }");
  const refused = await lineOf("r-refused");
  assert.deepEqual(
    [refused.operationType, refused.outcome, refused.errorCodes],
    ["unknown", "refused", ["VALIDATION_FAILED"]],
  );
  await ask("r-long", `query ${"n".repeat(500)} { viewer { id } }`);
  assert.equal(String((await lineOf("r-long")).operationName).length, 100);
});

test("a subgraph that fails or is slow is named in the line", async () => {
  const images = gateway.subgraphs.get("images") ?? assert.fail();
  images.instead = (_request, response) => void response.writeHead(503).end();
  await ask("r-dead", "query Pictures { viewer { id images { edges { cursor } } } }");
  const dead = await lineOf("r-dead");
  assert.deepEqual([dead.outcome, dead.errorCodes, dead.failedSubgraphs], ["partial", ["UNAVAILABLE"], ["images"]]);
  images.instead = (_request, response) => {
    setTimeout(() => response.end('{"data":{"_entities":[{"images":null}]}}'), 300);
  };
  await ask("r-slow", "{ viewer { images { edges { cursor } } } }");
  const [slowest] = (await lineOf("r-slow")).slowFetches as Record<string, unknown>[];
  assert.equal(slowest?.subgraph, "images");
});

test("operations are counted by type, fetches by subgraph, each by outcome", async () => {
  const endpoints = gateway.subgraphs.get("webhook-delivery") ?? assert.fail();
  endpoints.instead = (_request, response) => void response.end("no json");
  await ask("r-fault", "{ viewer { webhookEndpoints { edges { cursor } } } }");
  await ask("r-mutation", 'mutation { updateAccount(input: { displayName: "x" }) { account { id } } }');
  const text = await gateway.context.metrics.text();
  const counted = (metric: string, labels: string) =>
    assert.match(text, new RegExp(`${metric}_count\\{[^}]*${labels}[^}]*\\} [1-9]`), `${metric} ${labels}`);
  counted("signalbox_graphql_operation_seconds", 'type="query",outcome="partial"');
  counted("signalbox_graphql_operation_seconds", 'type="mutation",outcome="ok"');
  counted("signalbox_graphql_operation_seconds", 'type="unknown",outcome="refused"');
  counted("signalbox_graphql_fetch_seconds", 'subgraph="webhook-delivery",outcome="fault"');
  counted("signalbox_graphql_fetch_seconds", 'subgraph="images",outcome="unavailable"');
  counted("signalbox_graphql_fetch_seconds", 'subgraph="account",outcome="ok"');
});

test("a change of access that a mutation brings holds for the very next request, before the log says so", async () => {
  const account = gateway.subgraphs.get("account") ?? assert.fail();
  const rename = 'mutation { updateAccount(input: { displayName: "Eve" }) { account { id } } }';
  const changeAccess = async (who: TestPerson, change: object) => {
    const { accountId } = who;
    account.instead = (_request, response) => {
      const data = { updateAccount: { account: { id: accountId } } };
      const accessChanges = [{ ...change, accountId, epoch: 2 }];
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ data, extensions: { accessChanges } }));
    };
    const { body, text } = await gateway.query(who, rename);
    assert.deepEqual([body.data.updateAccount.account.id, text.includes("accessChanges")], [accountId, false]);
    account.instead = null;
  };
  const [suspended, revoked] = [testPerson(), testPerson()];
  await changeAccess(suspended, { kind: "account", id: suspended.accountId, state: "suspended" });
  await gateway.query(suspended, rename);
  const told = Buffer.from(String(account.heard.at(-1)?.[principalHeader]), "base64url").toString();
  assert.equal(JSON.parse(told).state, "suspended", "the subgraph judges a suspension");

  await changeAccess(revoked, { kind: "credential", id: revoked.principal.credential.id, revoked: true });
  assert.equal(codeOf(await gateway.query(revoked, rename)), "UNAUTHENTICATED");
});
