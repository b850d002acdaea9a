import assert from "node:assert/strict";
import { test } from "node:test";
import { internalTokenHeader } from "@signalbox/auth";
import { knownEndpointsPath } from "@signalbox/contracts";
import { eventually, internalToken, type TestPerson, testPerson } from "@signalbox/testing";
import { endpointsPath } from "./harness.ts";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

shareOneService();

const base = "/api/v1/webhooks";

/** An endpoint with one delivery, its attempt, and a replay of it. */
interface Things {
  readonly endpoint: string;
  readonly delivery: string;
  readonly attempt: string;
  readonly replay: string;
}

/** A request of an operation, about the things of one endpoint. */
type Ask = (things: Things) => readonly [method: string, path: string, body?: object | undefined];

const hourAgo = () => new Date(Date.now() - 3_600_000).toISOString();
const about =
  (method: string, path: string, body?: object): Ask =>
  ({ endpoint }) => [method, `${endpointsPath}/${endpoint}${path}`, body];

/** Every operation that admits portal sessions, about one thing. What is not here must refuse them. */
const admitted: Readonly<Record<string, Ask>> = {
  webhookEndpoint: about("GET", ""),
  updateWebhookEndpoint: about("PATCH", "", { description: "changed" }),
  pauseWebhookEndpoint: about("POST", "/pause"),
  resumeWebhookEndpoint: about("POST", "/resume"),
  enableWebhookEndpoint: about("POST", "/enable"),
  testWebhookEndpoint: about("POST", "/test"),
  rotateWebhookEndpointSecret: about("POST", "/secret/rotate", {}),
  deletePreviousWebhookEndpointSecrets: about("DELETE", "/secret/previous"),
  revealWebhookEndpointSecret: about("POST", "/secret/reveal"),
  webhookEndpointStatistics: about("GET", "/statistics"),
  webhookDelivery: ({ delivery: id }) => ["GET", `${base}/deliveries/${id}?expand=event,last_attempt`],
  retryWebhookDelivery: ({ delivery: id }) => ["POST", `${base}/deliveries/${id}/retry`],
  retryWebhookDeliveries: ({ endpoint }) => [
    "POST",
    `${base}/deliveries/retry`,
    { endpoint_id: endpoint, dry_run: true },
  ],
  cancelWebhookDelivery: ({ delivery: id }) => ["DELETE", `${base}/deliveries/${id}`],
  webhookReplay: ({ replay }) => ["GET", `${base}/replays/${replay}`],
  cancelWebhookReplay: ({ replay }) => ["POST", `${base}/replays/${replay}/cancel`],
  startWebhookReplay: ({ endpoint }) => [
    "POST",
    `${base}/replays`,
    { endpoint_id: endpoint, from: hourAgo(), status: "succeeded", dry_run: true },
  ],
};

/** Lists that admit portal sessions, with the member that names the endpoint of an item, and filters that ask for one. */
const lists: Readonly<
  Record<string, { readonly path: string; readonly member: string; readonly by: readonly string[] }>
> = {
  webhookEndpoints: { path: endpointsPath, member: "id", by: ["", "?text=127.0.0.1", "?status=enabled"] },
  webhookDeliveries: { path: `${base}/deliveries`, member: "endpoint_id", by: ["", "?endpoint_id=", "?event_id="] },
  webhookAttempts: { path: `${base}/attempts`, member: "endpoint_id", by: ["", "?endpoint_id=", "?delivery_id="] },
  webhookReplays: { path: `${base}/replays`, member: "endpoint_id", by: [""] },
};

async function makeThings(by: TestPerson, type: string): Promise<Things> {
  const { id: endpoint } = await delivery.newEndpoint(by, { url: receiver.url, event_types: [type] });
  const published = await delivery.send(by, "POST", `${base}/events`, { body: { type, data: { secret: type } } });
  assert.equal(published.status, 202, published.text);
  const attempted = async () =>
    (await delivery.send(by, "GET", `${base}/attempts?endpoint_id=${endpoint}`)).body.items[0];
  await eventually(async () => (await attempted()) !== undefined);
  const { id: attempt, delivery_id } = await attempted();
  const wanted = { endpoint_id: endpoint, from: hourAgo(), status: "succeeded" };
  await eventually(
    async () => (await delivery.deliveriesOf(by, `&status=succeeded&endpoint_id=${endpoint}`)).length > 0,
  );
  const replay = await delivery.send(by, "POST", `${base}/replays`, { body: wanted });
  assert.equal(replay.status, 202, replay.text);
  return { endpoint, delivery: delivery_id, attempt, replay: replay.body.id };
}

const manages = ["webhooks:read", "webhooks:write", "account:security"] as const;
const sessionOf = (accountId: string, endpointIds: readonly string[] | null): TestPerson =>
  testPerson({ accountId, kind: "portal", scopes: manages, portal: { endpointIds } });

const ask = (by: TestPerson, [method, path, body]: ReturnType<Ask>) =>
  delivery.send(by, method, path, body ? { body } : {});

interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
}

/** Every operation of the service, as its routes declare them. */
async function operationsOf(): Promise<Operation[]> {
  const { body } = await delivery.send(who, "GET", "/openapi/webhook-delivery.json");
  return Object.entries(
    body.paths as Record<string, Record<string, { operationId?: string; security?: unknown[] }>>,
  ).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, security }]) =>
      operationId && security && security.length > 0 ? [{ id: operationId, method: method.toUpperCase(), path }] : [],
    ),
  );
}

test("every operation of the service is in the table, or refuses portal sessions", async () => {
  const mine = await makeThings(who, "order.mine");
  const session = sessionOf(who.accountId, [mine.endpoint]);
  const operations = await operationsOf();
  assert.ok(operations.length > 30, `only ${operations.length} operations were found`);
  const known = new Set(operations.map(({ id }) => id));
  assert.deepEqual(
    [...Object.keys(admitted), ...Object.keys(lists)].filter((id) => !known.has(id)),
    [],
  );
  for (const { id, method, path } of operations) {
    if (id in admitted || id in lists) continue;
    const concrete = path.replace(/\{[^}]+\}/g, mine.endpoint);
    const { status, body, text } = await ask(session, [method, concrete, method === "GET" ? undefined : {}]);
    assert.deepEqual([id, status, body?.error?.details?.[0]?.code], [id, 403, "portal_session"], text);
  }
});

test("a portal session that is bound to endpoints cannot retry all", async () => {
  const { endpoint } = await makeThings(who, "order.mine");
  const retry = (by: TestPerson) => delivery.send(by, "POST", `${base}/deliveries/retry`, { body: { dry_run: true } });
  const refused = await retry(sessionOf(who.accountId, [endpoint]));
  assert.deepEqual([refused.status, refused.body.error.details[0].field], [422, "endpoint_id"]);
  assert.equal((await retry(sessionOf(who.accountId, null))).status, 200);
});

test("a portal session sees its endpoint, and nothing of another endpoint or of another account", async () => {
  const mine = await makeThings(who, "order.mine");
  const beside = await makeThings(who, "order.beside");
  const stranger = testPerson();
  const theirs = await makeThings(stranger, "order.theirs");
  const bound = sessionOf(who.accountId, [mine.endpoint]);
  const whole = sessionOf(who.accountId, null);
  // A session that names endpoints of another account does not get them by that.
  const greedy = sessionOf(who.accountId, [mine.endpoint, theirs.endpoint]);

  for (const [id, of] of Object.entries(admitted)) {
    for (const [session, foreign] of [
      [bound, beside],
      [bound, theirs],
      [whole, theirs],
      [greedy, theirs],
    ] as const) {
      const { status, text } = await ask(session, of(foreign));
      assert.equal(status, 404, `${id}: ${text}`);
      for (const secret of [foreign.endpoint, "order.beside", "order.theirs", "whsec_"])
        assert.ok(!text.includes(secret), `${id} tells ${secret}: ${text}`);
    }
    for (const session of [bound, whole]) {
      const { status, text } = await ask(session, of(mine));
      assert.ok(status < 300 || (status === 409 && id !== "webhookDelivery"), `${id}: ${status} ${text}`);
    }
  }
  for (const [id, { path, member, by }] of Object.entries(lists)) {
    for (const filter of by) {
      for (const foreign of [beside, theirs]) {
        const value = filter.endsWith("endpoint_id=")
          ? foreign.endpoint
          : filter.endsWith("delivery_id=")
            ? foreign.delivery
            : "";
        const { status, body, text } = await ask(bound, ["GET", path + filter + value]);
        assert.equal(status, 200, text);
        const seen = new Set(body.items.map((item: Record<string, string>) => item[member]));
        seen.delete(mine.endpoint);
        assert.deepEqual([id, filter, [...seen]], [id, filter, []]);
        assert.ok(value === "" || body.items.length === 0, `${id}${filter}: ${text}`);
      }
    }
    const both = (await ask(whole, ["GET", path])).body.items.map((item: Record<string, string>) => item[member]);
    assert.deepEqual([...new Set(both)].toSorted(), [mine.endpoint, beside.endpoint].toSorted(), id);
  }
});

test("a portal session is shown neither metadata nor the operator's own headers, and writes none", async () => {
  const settings = { metadata: { tenant: "t-1" }, headers: [{ name: "X-Tenant-Key", value: "operators-own" }] };
  const { id } = await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.mine"], settings });
  const published = { body: { type: "order.mine", data: {} } };
  assert.equal((await delivery.send(who, "POST", `${base}/events`, published)).status, 202);
  const { headers } = await receiver.waitFor(() => true);
  assert.equal(headers["x-tenant-key"], "operators-own");
  const session = sessionOf(who.accountId, [id]);
  const path = `${endpointsPath}/${id}`;
  await eventually(async () => (await ask(who, ["GET", `${base}/attempts`])).text.includes("operators-own"));
  const requests: ReturnType<Ask>[] = [
    ["GET", path],
    ["GET", endpointsPath],
    ["PATCH", path, { description: "mine", settings: { timeout_seconds: 5, headers: [], metadata: {} } }],
    ["POST", `${path}/pause`],
    ["POST", `${path}/resume`],
    ["POST", `${path}/test`],
    ["POST", `${path}/secret/rotate`, {}],
    ["GET", `${base}/attempts`],
    ["GET", `${base}/deliveries?expand=last_attempt`],
  ];
  for (const request of requests) {
    const { status, text } = await ask(session, request);
    assert.ok(status < 300, text);
    for (const hidden of ["t-1", "X-Tenant-Key", "operators-own"])
      assert.ok(!text.includes(hidden), `${request.join(" ")} shows ${hidden}: ${text}`);
  }
  for (const [field, value] of [
    ["headers", [{ name: "X-Mine", value: "1" }]],
    ["metadata", { tenant: "t-2" }],
  ] as const) {
    const { status, body } = await ask(session, ["PATCH", path, { settings: { [field]: value } }]);
    assert.deepEqual(
      [status, body.error.details[0].field, body.error.details[0].code],
      [403, `settings.${field}`, "portal_session"],
    );
  }
  const { settings: kept } = (await ask(who, ["GET", path])).body;
  assert.deepEqual(
    [kept.metadata, kept.headers[0].value, kept.timeout_seconds],
    [settings.metadata, "operators-own", 5],
  );
});

test("a test event shows its receiver neither metadata nor headers of the endpoint", async () => {
  const settings = { metadata: { plan: "of-the-operator" }, headers: [{ name: "X-Team", value: "of-the-operator" }] };
  const { id } = await delivery.newEndpoint(who, { url: receiver.url, settings });
  assert.equal((await delivery.send(who, "POST", `${endpointsPath}/${id}/test`)).status, 200);
  const { headers, body } = await receiver.waitFor(() => true);
  assert.equal(headers["x-team"], "of-the-operator");
  assert.doesNotMatch(body.toString(), /of-the-operator/);
});

test("events about an endpoint show neither its metadata nor its headers", async () => {
  const settings = { metadata: { plan: "of-the-operator" }, headers: [{ name: "X-Team", value: "of-the-operator" }] };
  const owner = testPerson();
  const { id } = await delivery.newEndpoint(owner, { url: receiver.url, settings });
  const path = `${endpointsPath}/${id}`;
  const renamed = { settings: { metadata: { plan: "of-the-operator-too" } } };
  assert.equal((await delivery.send(owner, "PATCH", path, { body: renamed })).status, 200);
  assert.equal((await delivery.send(owner, "DELETE", path)).status, 204);
  const events = await delivery.eventsOf(owner.accountId, 3);
  assert.doesNotMatch(JSON.stringify(events), /of-the-operator|X-Team/);
});

test("a session of chosen endpoints changes how events come, and never which", async () => {
  const { id } = await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.mine"] });
  const bound = sessionOf(who.accountId, [id]);
  for (const [field, body] of [
    ["event_types", { event_types: ["*"] }],
    ["settings.filter", { settings: { filter: { total: { gte: 1 } } } }],
  ] as const) {
    const { status, body: answer } = await ask(bound, ["PATCH", `${endpointsPath}/${id}`, body]);
    assert.deepEqual(
      [status, answer.error.details[0].field, answer.error.details[0].code],
      [403, field, "portal_session"],
    );
  }
  const same = { event_types: ["order.mine"], description: "new", url: `${receiver.url}/new` };
  assert.equal((await ask(bound, ["PATCH", `${endpointsPath}/${id}`, same])).status, 200);
  const whole = sessionOf(who.accountId, null);
  assert.equal((await ask(whole, ["PATCH", `${endpointsPath}/${id}`, { event_types: ["*"] }])).status, 200);
});

test("without `manage` a session sees no secret and changes no URL, and without `write` it changes nothing", async () => {
  const { id } = await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.mine"] });
  const { accountId } = who;
  const portal = { endpointIds: [id] };
  const writes = testPerson({ accountId, kind: "portal", scopes: ["webhooks:read", "webhooks:write"], portal });
  const reads = testPerson({ accountId, kind: "portal", scopes: ["webhooks:read"], portal });
  const path = `${endpointsPath}/${id}`;
  for (const request of [
    ["POST", `${path}/secret/reveal`],
    ["POST", `${path}/secret/rotate`, {}],
    ["PATCH", path, { url: `${receiver.url}/elsewhere` }],
  ] as const) {
    const { status, body } = await ask(writes, [...request]);
    assert.deepEqual([status, body.error.details[0].code], [403, "step_up_required"], request.join(" "));
  }
  assert.equal((await ask(writes, ["POST", `${path}/pause`])).status, 200);
  const { status, body } = await ask(reads, ["POST", `${path}/resume`]);
  assert.deepEqual([status, body.error.details[0].code], [403, "scope_required"]);
});

test("a kept answer of an `Idempotency-Key` is not for a portal session that did not ask for it", async () => {
  const { id } = await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.mine"] });
  const { id: other } = await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.beside"] });
  const headers = { "idempotency-key": "1" };
  const request = ["POST", `${endpointsPath}/${other}/pause`] as const;
  assert.equal((await delivery.send(who, ...request, { headers })).status, 200);
  const { status, text } = await delivery.send(sessionOf(who.accountId, [id]), ...request, { headers });
  assert.equal(status, 409, text);
  assert.ok(!text.includes(other), text);
});

test("a portal session of an account that is not active is refused, even where the account itself may read", async () => {
  const { id } = await delivery.newEndpoint(who, { url: receiver.url });
  const path = `${endpointsPath}/${id}`;
  const { accountId } = who;
  for (const state of ["pending", "suspended", "disabled", "deleted"] as const) {
    const session = testPerson({ accountId, state, kind: "portal", scopes: manages, portal: { endpointIds: [id] } });
    const { status, body } = await ask(session, ["GET", path]);
    assert.deepEqual([status, body.error.details[0].code], [403, "portal_session"], state);
  }
});

test("account learns which endpoints of a portal session are those of the account", async () => {
  const { id } = await delivery.newEndpoint(who, { url: receiver.url });
  const { id: foreign } = await delivery.newEndpoint(testPerson(), { url: receiver.url });
  const { id: deleted } = await delivery.newEndpoint(who, { url: receiver.url });
  await delivery.send(who, "DELETE", `${endpointsPath}/${deleted}`);
  const path = knownEndpointsPath.replace(":account_id", who.accountId);
  const answer = await fetch(delivery.internalUrl + path, {
    method: "POST",
    headers: { "content-type": "application/json", [internalTokenHeader]: internalToken },
    body: JSON.stringify({ endpoint_ids: [foreign, deleted, id] }),
  });
  assert.deepEqual([answer.status, await answer.json()], [200, { endpoint_ids: [id] }]);
});
