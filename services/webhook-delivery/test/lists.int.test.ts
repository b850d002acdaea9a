import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, type TestPerson, testPerson } from "@signalbox/testing";
import { endpointsPath } from "./harness.ts";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

shareOneService();

type Row = { readonly id: string } & Readonly<Record<string, unknown>>;
const get = (path: string, by: TestPerson = who) => delivery.send(by, "GET", path);
const idsOf = async (path: string, by: TestPerson = who): Promise<string[]> => {
  const { status, body, text } = await get(path, by);
  assert.equal(status, 200, text);
  return body.items.map(({ id }: Row) => id);
};
const newEndpoint = (endpoint: object) =>
  delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*", "bill.*"], ...endpoint });
const attemptsPath = "/api/v1/webhooks/attempts";
const deliveriesPath = "/api/v1/webhooks/deliveries";

/** Publishes an event of each type, and waits until each was attempted once. */
async function publish(...types: string[]): Promise<void> {
  const before = (await idsOf(`${attemptsPath}?limit=100`)).length;
  for (const type of types) {
    const { status } = await delivery.send(who, "POST", "/api/v1/webhooks/events", { body: { type, data: {} } });
    assert.equal(status, 202);
  }
  await eventually(async () => (await idsOf(`${attemptsPath}?limit=100`)).length >= before + types.length);
}

/** Reads all pages of a list, a row at a time. */
async function paged(path: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ""; ; ) {
    const { body, text } = await get(`${path}${path.includes("?") ? "&" : "?"}limit=1${cursor}`);
    assert.ok(body.items, text);
    ids.push(...body.items.map(({ id }: Row) => id));
    if (!body.next_cursor) return ids;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

test("endpoints are found by status, type, text in any case, and by whether they fail", async () => {
  const shop = await newEndpoint({ description: "The SHOP of 100%_Ümlaut" });
  const paused = await newEndpoint({ description: "Billing" });
  const pull = await newEndpoint({ type: "pull", url: undefined });
  assert.equal((await delivery.send(who, "POST", `${endpointsPath}/${paused.id}/pause`)).status, 200);
  const failing =
    "insert into endpoint_health (endpoint_id, failing_since, failures, successes) values ($1, now(), 1, 0)";
  await delivery.pool.query({ name: "", text: failing }, [shop.id]);
  const found = async (query: string) => (await idsOf(`${endpointsPath}?${query}`)).toSorted();
  assert.deepEqual(await found("status=paused"), [paused.id]);
  assert.deepEqual(await found("type=pull"), [pull.id]);
  assert.deepEqual(await found("text=shop"), [shop.id]);
  assert.deepEqual(await found(`text=${encodeURIComponent("100%_ümlaut")}`), [shop.id]);
  assert.deepEqual(await found(`text=${encodeURIComponent("1%")}`), [], "a percent sign stands for itself");
  assert.deepEqual(await found(`text=${encodeURIComponent("o_p")}`), [], "so does an underscore");
  assert.deepEqual(await found(`text=${encodeURIComponent(receiver.url.slice(7))}`), [shop.id, paused.id].toSorted());
  assert.deepEqual(await found("text=pull.invalid"), [], "the URL that stands for none is not searched");
  assert.deepEqual(await found("failing=true"), [shop.id]);
  assert.deepEqual(await found("failing=false&status=enabled"), [pull.id]);
  assert.deepEqual(await idsOf(`${endpointsPath}?text=shop`, testPerson()), [], "nor does another account find it");
  assert.deepEqual(await paged(`${endpointsPath}?type=push`), [paused.id, shop.id]);
});

test("attempts of all endpoints are found by status class, result, error, type, endpoint and time", async () => {
  const once = { settings: { retry_schedule_seconds: [0] } };
  const [shop, gone] = [await newEndpoint(once), await newEndpoint({ ...once, event_types: ["bill.*"] })];
  await delivery.send(who, "POST", `${endpointsPath}/${gone.id}/pause`);
  receiver.answer({ status: 503 });
  await publish("order.created");
  receiver.answer({ status: 404 });
  await publish("order.paid");
  receiver.answer({ status: 204 });
  await publish("bill.sent");
  receiver.answer({ instead: "reset" });
  await publish("order.lost");
  const all = (await get(`${attemptsPath}?limit=100`)).body.items as Row[];
  const typesOf = async (query: string): Promise<unknown[]> => {
    const { status, body, text } = await get(`${attemptsPath}?${query}`);
    assert.equal(status, 200, text);
    return body.items.map(({ event_type }: Row) => event_type);
  };
  assert.deepEqual(
    all.map(({ event_type }) => event_type),
    ["order.lost", "bill.sent", "order.paid", "order.created"],
  );
  const [lost, , , first] = all;
  assert.deepEqual(await typesOf("status_class=5xx"), ["order.created"]);
  assert.deepEqual(await typesOf("status_class=4xx"), ["order.paid"]);
  assert.deepEqual(await typesOf("status_class=2xx"), ["bill.sent"]);
  assert.deepEqual(await typesOf("status_class=none"), ["order.lost"]);
  assert.deepEqual(await typesOf(`error=${lost?.error}`), ["order.lost"]);
  assert.deepEqual(await typesOf("error=ENOTFOUND"), []);
  assert.deepEqual(await typesOf("result=failed"), ["order.lost", "order.paid", "order.created"]);
  assert.deepEqual(await typesOf("result=succeeded"), ["bill.sent"]);
  assert.deepEqual(await typesOf("type=bill.sent"), ["bill.sent"]);
  assert.deepEqual(await typesOf("type=order.*&status_class=4xx"), ["order.paid"]);
  assert.deepEqual(await typesOf(`endpoint_id=${gone.id}`), []);
  assert.equal((await typesOf(`endpoint_id=${shop.id}`)).length, 4);
  assert.deepEqual(await typesOf(`to=${first?.started_at}`), []);
  assert.equal((await typesOf(`from=${first?.started_at}&result=failed`)).length, 3);
  assert.deepEqual(await typesOf(`delivery_id=${lost?.delivery_id}&status_class=2xx`), [], "filters narrow it, too");
  assert.deepEqual(await typesOf(`delivery_id=${lost?.delivery_id}&result=failed`), ["order.lost"]);
  const failures = all.filter(({ event_type }) => event_type !== "bill.sent").map(({ id }) => id);
  assert.deepEqual(await paged(`${attemptsPath}?result=failed`), failures);
  assert.deepEqual(await idsOf(`${attemptsPath}?result=failed`, testPerson()), []);
});

test("an attempt from before its type was recorded is listed, and found by no type", async () => {
  await newEndpoint({});
  await publish("order.created");
  await delivery.pool.query({ name: "", text: "update delivery_attempts set event_type = null" }, []);
  const [attempt] = (await get(attemptsPath)).body.items;
  assert.equal(attempt.event_type, null);
  assert.deepEqual(await idsOf(`${attemptsPath}?type=order.*`), []);
});

test("deliveries are shown with their event and last attempt where the query asks for them", async () => {
  const endpoint = await newEndpoint({});
  receiver.answer({ status: 503 });
  await publish("order.created");
  const [plain] = (await get(deliveriesPath)).body.items;
  assert.deepEqual([plain.event, plain.last_attempt], [undefined, undefined]);
  const [both] = (await get(`${deliveriesPath}?expand=event,last_attempt`)).body.items;
  const [attempt] = (await get(`${attemptsPath}?delivery_id=${plain.id}`)).body.items;
  assert.deepEqual([both.event.id, both.event.type], [plain.event_id, "order.created"]);
  assert.equal(JSON.parse(both.event.body).id, plain.event_id);
  assert.deepEqual(both.last_attempt, attempt);
  const one = `${deliveriesPath}/${plain.id}`;
  assert.deepEqual((await get(`${one}?expand=event,last_attempt`)).body, both);
  assert.deepEqual((await get(one)).body, plain);
  assert.equal((await get(`${one}?expand=event`, testPerson())).status, 404);
  const [attempted] = (await get(`${deliveriesPath}?expand=last_attempt&status=pending`)).body.items;
  assert.deepEqual([attempted.event, attempted.last_attempt.status], [undefined, 503]);
  await delivery.send(who, "POST", `${endpointsPath}/${endpoint.id}/pause`);
  assert.equal(
    (await delivery.send(who, "POST", "/api/v1/webhooks/events", { body: { type: "bill.sent", data: {} } })).status,
    202,
  );
  const [held] = (await get(`${deliveriesPath}?expand=last_attempt&type=bill.sent`)).body.items;
  assert.deepEqual([held.status, held.last_attempt], ["held", null]);
  const query = `query($of: [_Any!]!) { _entities(representations: $of) {
    ... on Account { webhookDeliveries { edges { node { id lastAttempt { id } event { id } } } } } } }`;
  const { data } = await delivery.graphql(who, query, { of: [{ __typename: "Account", id: who.accountId }] });
  assert.deepEqual(
    data._entities[0].webhookDeliveries.edges.map(({ node }: { node: Row }) => node.lastAttempt),
    [null, { id: attempt.id }],
  );
});

test("the graph has the lists with the filters of REST, and the cursors of both are the same", async () => {
  const [first, second] = [await newEndpoint({ description: "shop a" }), await newEndpoint({ description: "shop b" })];
  receiver.answer({ status: 500 });
  await publish("order.created");
  const query = `query($of: [_Any!]!, $after: String) { _entities(representations: $of) { ... on Account {
    webhookEndpoints(first: 1, after: $after, text: "SHOP", failing: true) { edges { cursor node { id } } }
    webhookAttempts(statusClass: "5xx", type: "order.*") { edges { node { eventType status } } }
    refused: webhookAttempts(statusClass: "9xx") { edges { node { id } } } } } }`;
  const ask = (after: string | null = null) =>
    delivery.graphql(who, query, { of: [{ __typename: "Account", id: who.accountId }], after });
  const path = `${endpointsPath}?text=SHOP&failing=true`;
  await eventually(async () => (await idsOf(path)).length === 2);
  assert.deepEqual(await paged(path), [second.id, first.id]);
  const { data, errors } = await ask();
  const [account] = data._entities;
  assert.deepEqual(
    errors?.map(({ path: at, extensions }: { path: string[]; extensions: { code: string } }) => [
      at.at(-1),
      extensions.code,
    ]),
    [["refused", "VALIDATION_FAILED"]],
  );
  assert.deepEqual(account.webhookEndpoints.edges[0].node, { id: second.id });
  assert.deepEqual(account.webhookAttempts.edges[0].node, { eventType: "order.created", status: 500 });
  const page = (await get(`${path}&limit=1`)).body;
  assert.equal(page.next_cursor, account.webhookEndpoints.edges[0].cursor);
  const [next] = (await ask(page.next_cursor)).data._entities;
  assert.deepEqual(next.webhookEndpoints.edges[0].node, { id: first.id });
});

test("wrong values are refused with the name of the parameter", async () => {
  for (const [path, field] of [
    [`${endpointsPath}?status=broken`, "status"],
    [`${endpointsPath}?type=ftp`, "type"],
    [`${endpointsPath}?text=`, "text"],
    [`${endpointsPath}?text=${"x".repeat(101)}`, "text"],
    [`${endpointsPath}?failing=maybe`, "failing"],
    [`${attemptsPath}?status_class=200`, "status_class"],
    [`${attemptsPath}?error=no%20word`, "error"],
    [`${attemptsPath}?from=yesterday`, "from"],
    [`${deliveriesPath}?expand=event,secret`, "expand"],
    [`${deliveriesPath}?expand=`, "expand"],
    [`${deliveriesPath}/whd_1?expand=attempts`, "expand"],
  ] as const) {
    const { status, body } = await get(path);
    assert.ok(status === 400 || status === 422, `${path}: ${status}`);
    assert.deepEqual(
      body.error.details.map((detail: Row) => detail.field),
      [field],
      path,
    );
  }
});

test("a cursor of another list or of other filters is refused", async () => {
  await newEndpoint({ description: "one" });
  await newEndpoint({ description: "two" });
  const { next_cursor: cursor } = (await get(`${endpointsPath}?limit=1&type=push`)).body;
  assert.equal((await get(`${endpointsPath}?limit=1&type=push&cursor=${cursor}`)).status, 200);
  for (const path of [
    `${endpointsPath}?limit=1&cursor=${cursor}`,
    `${endpointsPath}?limit=1&type=pull&cursor=${cursor}`,
    `${endpointsPath}?limit=1&type=push&status=enabled&cursor=${cursor}`,
    `${deliveriesPath}?cursor=${cursor}`,
    `${attemptsPath}?cursor=${cursor}`,
    `/api/v1/webhooks/events?cursor=${cursor}`,
  ]) {
    const { status, body } = await get(path);
    assert.deepEqual(
      [status, body.error.details[0]],
      [400, { field: "cursor", code: "invalid_cursor", message: "Use it with the query that returned it." }],
    );
  }
  const query = `query($of: [_Any!]!, $after: String) { _entities(representations: $of) {
    ... on Account { webhookReplays(after: $after) { edges { node { id } } } } } }`;
  const of = [{ __typename: "Account", id: who.accountId }];
  const { errors } = await delivery.graphql(who, query, { of, after: cursor });
  assert.equal(errors?.[0]?.extensions.code, "VALIDATION_FAILED");
});
