import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { endpointsPath } from "./harness.ts";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

shareOneService();

const run = async (query: string, variables: object = {}, by = who) => {
  const { data, errors } = await delivery.graphql(by, query, variables);
  assert.equal(errors, undefined, JSON.stringify(errors));
  return data.it;
};
const refusal = async (query: string, variables: object = {}, by = who) =>
  (await delivery.graphql(by, query, variables)).errors?.[0]?.extensions.code;
const shown = "id url eventTypes status settings";
const create = `mutation($input: CreateWebhookEndpointInput!) {
  it: createWebhookEndpoint(input: $input) { webhookEndpoint { ${shown} } secret errors { field code } } }`;
const newEndpoint = async (more: object = {}) =>
  run(create, { input: { url: receiver.url, eventTypes: ["order.*"], ...more } });
const named = (mutation: string, payload: string, input = "") =>
  `mutation($id: ID!) { it: ${mutation}(id: $id${input}) { ${payload} errors { field code } } }`;
const publish = `mutation($input: PublishWebhookEventsInput!) {
  it: publishWebhookEvents(input: $input) {
    published { id type duplicate warnings { pointer message } } errors { field code message } } }`;
const ofAccount = async (fields: string) => {
  const query = `query($of: [_Any!]!) { _entities(representations: $of) { ... on Account { ${fields} } } }`;
  const { data, errors } = await delivery.graphql(who, query, { of: [{ __typename: "Account", id: who.accountId }] });
  assert.equal(errors, undefined, JSON.stringify(errors));
  return data._entities[0];
};

test("an endpoint is created, changed, paused, resumed and deleted in the graph, its own JSON as it was written", async () => {
  const settings = { metadata: { ownerName: "Ada" }, filter: { "orderId.byShop": { exists: true } }, ordered: true };
  const { webhookEndpoint, secret } = await newEndpoint({ settings });
  const { id } = webhookEndpoint;
  assert.match(secret, /^whsec_/);
  assert.deepEqual(webhookEndpoint.settings.metadata, settings.metadata);
  assert.deepEqual(webhookEndpoint.settings.filter, settings.filter);
  const update = `mutation($id: ID!, $input: UpdateWebhookEndpointInput!) {
    it: updateWebhookEndpoint(id: $id, input: $input) { webhookEndpoint { ${shown} } errors { field code } } }`;
  const changed = await run(update, { id, input: { eventTypes: ["bill.*"], settings: { max_in_flight: 2 } } });
  assert.deepEqual(changed.webhookEndpoint.eventTypes, ["bill.*"]);
  assert.equal(changed.webhookEndpoint.settings.max_in_flight, 2);
  assert.equal(changed.webhookEndpoint.settings.ordered, true);
  const wrong = await run(update, { id, input: { settings: { order_hold_seconds: 0 } } });
  assert.deepEqual(
    [wrong.webhookEndpoint, wrong.errors.map(({ field }: { field: string }) => field)],
    [null, ["settings.orderHoldSeconds"]],
  );
  for (const [action, status] of [
    ["pause", "paused"],
    ["resume", "enabled"],
    ["enable", "enabled"],
  ] as const) {
    const { webhookEndpoint: now } = await run(named(`${action}WebhookEndpoint`, `webhookEndpoint { ${shown} }`), {
      id,
    });
    assert.equal(now.status, status);
  }
  const rotate = named(
    "rotateWebhookEndpointSecret",
    "webhookEndpoint { id } secret",
    ", input: { overlapSeconds: 60 }",
  );
  const rotated = await run(rotate, { id });
  assert.notEqual(rotated.secret, secret);
  assert.equal((await run(named("revealWebhookEndpointSecret", "secret"), { id })).secret, rotated.secret);
  const ended = await run(named("deletePreviousWebhookEndpointSecrets", "webhookEndpointId"), { id });
  assert.equal(ended.webhookEndpointId, id);
  assert.equal(await refusal(named("pauseWebhookEndpoint", ""), { id }, testPerson()), "NOT_FOUND");
  const removed = await run(named("deleteWebhookEndpoint", "deletedWebhookEndpointId"), { id });
  assert.equal(removed.deletedWebhookEndpointId, id);
  assert.equal((await delivery.send(who, "GET", `${endpointsPath}/${id}`)).status, 404);
});

test("events are published, and found again with their deliveries and attempts", async () => {
  await newEndpoint();
  receiver.answerNext({ status: 500 });
  const events = [{ id: "one", type: "order.created", data: { orderId: 1, shop: { openAt: "x" } }, subject: "s" }];
  const { published } = await run(publish, { input: { events } });
  assert.deepEqual(published, [{ id: "one", type: "order.created", duplicate: false, warnings: [] }]);
  assert.equal((await run(publish, { input: { events } })).published[0].duplicate, true);
  const posted = await receiver.waitFor(() => true);
  assert.deepEqual(JSON.parse(posted.body.toString()).data, events[0]?.data);
  const fields = `webhookDeliveries(first: 5, type: "order.*") { edges { node {
      id status attempts eventId endpoint { url } event { id body }
      attemptLog { edges { node { number status decision requestHeaders delivery { id } } } } } } }
    webhookEndpoints { edges { node { deliveries(status: "succeeded") { edges { node { id } } }
      attempts(succeeded: false) { edges { node { status } } } } } }
    webhookEvents(type: "order.created") { edges { node { id type body } } }`;
  const found = await eventually(async () => {
    const account = await ofAccount(fields);
    return account.webhookDeliveries.edges[0]?.node.attempts === 1 && account;
  });
  const [{ node }] = found.webhookDeliveries.edges;
  assert.deepEqual([node.status, node.eventId, node.event.id], ["pending", "one", "one"]);
  assert.equal(node.endpoint.url, `${receiver.url}/`);
  assert.equal(node.event.body, posted.body.toString());
  const [{ node: attempt }] = node.attemptLog.edges;
  assert.deepEqual([attempt.number, attempt.status, attempt.decision, attempt.delivery.id], [1, 500, "retry", node.id]);
  assert.equal(attempt.requestHeaders["X-Delivery-Id"], node.id);
  const [{ node: endpoint }] = found.webhookEndpoints.edges;
  assert.deepEqual([endpoint.deliveries.edges, endpoint.attempts.edges], [[], [{ node: { status: 500 } }]]);
  assert.equal(found.webhookEvents.edges[0].node.body, posted.body.toString());

  const retry = named("retryWebhookDelivery", "webhookDelivery { status }");
  assert.equal((await run(retry, { id: node.id })).webhookDelivery.status, "pending");
  await eventually(async () => (await delivery.deliveriesOf(who, "&status=succeeded")).length === 1);
  assert.equal(await refusal(retry, { id: node.id }, testPerson()), "NOT_FOUND");
  const foreign = `query($of: [_Any!]!) { _entities(representations: $of) { ... on WebhookDelivery { status } } }`;
  const of = [{ __typename: "WebhookDelivery", id: node.id }];
  assert.deepEqual((await delivery.graphql(testPerson(), foreign, { of })).data._entities, [null]);
});

test("a filter that REST refuses is refused in the graph, with its name", async () => {
  const lists = {
    'webhookDeliveries(status: "lost")': "status",
    [`webhookDeliveries(eventId: "${"x".repeat(129)}")`]: "eventId",
    [`webhookEvents(type: "${"x".repeat(201)}")`]: "type",
  };
  for (const [list, field] of Object.entries(lists)) {
    const query = `query($of: [_Any!]!) { _entities(representations: $of) { ... on Account { ${list} { edges { node { id } } } } } }`;
    const { errors } = await delivery.graphql(who, query, { of: [{ __typename: "Account", id: who.accountId }] });
    const { code, details } = errors[0].extensions;
    assert.deepEqual([code, details[0].field], ["VALIDATION_FAILED", field], list);
  }
  const { webhookEndpoint } = await newEndpoint();
  const own = `query($of: [_Any!]!) { _entities(representations: $of) {
    ... on WebhookEndpoint { deliveries(status: "lost", type: null) { edges { node { id } } } } } }`;
  const { errors } = await delivery.graphql(who, own, {
    of: [{ __typename: "WebhookEndpoint", id: webhookEndpoint.id }],
  });
  assert.equal(errors[0].extensions.details[0].field, "status");
  assert.deepEqual(
    (await ofAccount('webhookDeliveries(status: "held") { edges { node { id } } }')).webhookDeliveries.edges,
    [],
  );
});

test("event types check published events, and their schemas stay as written", async () => {
  const schema = { type: "object", required: ["orderId"], additionalProperties: false, properties: { orderId: {} } };
  const input = { name: "order.created", schema, enforcement: "block" };
  const declare = `mutation($input: CreateWebhookEventTypeInput!) {
    it: createWebhookEventType(input: $input) { webhookEventType { name own schema enforcement } errors { code } } }`;
  assert.deepEqual((await run(declare, { input })).webhookEventType, { ...input, own: true });
  assert.equal(await refusal(declare, { input }), "CONFLICT");
  const wrong = { schema: { type: "nothing" } };
  const unusable = "webhookEventType { name } errors { field }";
  const create = `mutation($input: CreateWebhookEventTypeInput!) { it: createWebhookEventType(input: $input) { ${unusable} } }`;
  const refused = { webhookEventType: null, errors: [{ field: "schema" }] };
  assert.deepEqual(await run(create, { input: { name: "bill.sent", ...wrong } }), refused);
  const update = `mutation($input: UpdateWebhookEventTypeInput!) {
    it: updateWebhookEventType(name: "order.created", input: $input) { ${unusable} } }`;
  assert.deepEqual(await run(update, { input: wrong }), refused);
  const event = (data: object) => ({ input: { events: [{ type: "order.created", data }] } });
  assert.equal((await run(publish, event({ orderId: 1 }))).errors.length, 0);
  const misfit = await run(publish, event({ order_id: 1 }));
  assert.deepEqual([misfit.published, misfit.errors[0].field], [null, "events[0].data"]);
  const change = `mutation($name: String!, $input: UpdateWebhookEventTypeInput!) {
    it: updateWebhookEventType(name: $name, input: $input) { webhookEventType { enforcement schema } errors { code } } }`;
  const changed = await run(change, { name: input.name, input: { enforcement: "warn" } });
  assert.deepEqual(changed.webhookEventType, { enforcement: "warn", schema });
  const [first] = (
    await ofAccount("webhookEventTypes(first: 100) { edges { node { name own } } }")
  ).webhookEventTypes.edges
    .map(({ node }: { node: { name: string; own: boolean } }) => node)
    .filter(({ own }: { own: boolean }) => own);
  assert.equal(first.name, input.name);
  const remove = `mutation($name: String!) {
    it: deleteWebhookEventType(name: $name) { deletedWebhookEventTypeName errors { code } } }`;
  assert.equal((await run(remove, { name: input.name })).deletedWebhookEventTypeName, input.name);
});

test("a replay is counted, started and cancelled, an endpoint tested, and a signing key rotated in the graph", async () => {
  const { webhookEndpoint } = await newEndpoint();
  const { id: endpointId } = webhookEndpoint;
  const events = Array.from({ length: 3 }, () => ({ type: "order.created", data: {} }));
  await run(publish, { input: { events } });
  await eventually(async () => (await delivery.deliveriesOf(who, "&status=succeeded")).length === 3);
  const start = `mutation($input: StartWebhookReplayInput!) {
    it: startWebhookReplay(input: $input) { webhookReplay { id status total endpoint { id } } count errors { code } } }`;
  const input = { endpointId, from: "2020-01-01T00:00:00Z", rate: 1 };
  const counted = await run(start, { input: { ...input, dryRun: true } });
  assert.deepEqual([counted.count, counted.webhookReplay], [3, null]);
  const none = await run(start, { input: { ...input, to: input.from, dryRun: true } });
  assert.deepEqual([none.count, none.webhookReplay, none.errors], [0, null, []]);
  const { webhookReplay } = await run(start, { input });
  assert.deepEqual([webhookReplay.status, webhookReplay.total, webhookReplay.endpoint.id], ["running", 3, endpointId]);
  const cancel = named("cancelWebhookReplay", "webhookReplay { status endedAt }");
  assert.equal((await run(cancel, { id: webhookReplay.id })).webhookReplay.status, "cancelled");
  const [{ node }] = (await ofAccount("webhookReplays { edges { node { id from } } }")).webhookReplays.edges;
  assert.deepEqual(node, { id: webhookReplay.id, from: "2020-01-01T00:00:00.000Z" });
  assert.equal(await refusal(start, { input: { ...input, endpointId: "whe_1" } }), "NOT_FOUND");

  const retryAll = `mutation($input: RetryWebhookDeliveriesInput!) {
    it: retryWebhookDeliveries(input: $input) { webhookReplay { statuses total } count errors { code } } }`;
  assert.equal((await run(retryAll, { input: { endpointId, dryRun: true } })).count, 0);
  const retried = await run(retryAll, { input: { endpointId, status: "waiting" } });
  assert.deepEqual(retried.webhookReplay, { statuses: ["waiting"], total: 0 });

  const tested = await run(named("testWebhookEndpoint", "attempt { status decision }"), { id: endpointId });
  assert.deepEqual(tested.attempt, { status: 200, decision: "succeeded" });
  const key = `mutation { it: rotateWebhookSigningKey { webhookSigningKey { publicKey endsAt } errors { code } } }`;
  const rotated = await run(key);
  assert.match(rotated.webhookSigningKey.publicKey, /^whpk_/);
});
