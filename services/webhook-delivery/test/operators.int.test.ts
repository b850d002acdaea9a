import assert from "node:assert/strict";
import { test } from "node:test";
import { draft, eventOf, type Scope, scopes } from "@signalbox/contracts";
import { eventually, type TestPerson, testPerson } from "@signalbox/testing";
import { endpointsPath } from "./harness.ts";
import { delivery, who as operator, receiver, shareOneService } from "./one-service.ts";

shareOneService();

const eventsPath = "/api/v1/webhooks/events";
const everybodys = (eventTypes: readonly string[] = ["image.created"]) =>
  delivery.newEndpoint(operator, { url: receiver.url, event_types: eventTypes, scope: "all" });
const pathOf = ({ id }: { readonly id: string }) => `${endpointsPath}/${id}`;
const without = (...missing: Scope[]) => scopes.filter((scope) => !missing.includes(scope));
/** Of the operator's account, without its power. */
const keyWithoutPower = () =>
  testPerson({ accountId: operator.accountId, scopes: without("account:admin"), kind: "api-key" });
const bodies = () => receiver.requests.map(({ body }) => JSON.parse(body.toString()));
const imagesOf = () => bodies().map(({ data }) => data.id);

test("an operator's endpoint gets the service's events of every account, each once, and no custom events", async () => {
  const [one, other] = [testPerson(), testPerson()];
  // Its endpoints are in memory from here on. It may go out when the endpoint is there already.
  const early = await delivery.createImage(one.accountId);
  const endpoint = await everybodys(["image.created", "order.*", "webhook_endpoint.created"]);
  const images: string[] = [];
  for (const { accountId } of [one, other, operator]) images.push(await delivery.createImage(accountId));
  await delivery.send(one, "POST", eventsPath, { body: { type: "order.created", data: {} } });
  const own = await delivery.newEndpoint(other, { url: receiver.url, event_types: ["image.erased"] });
  await receiver.waitFor(({ body }) => body.includes(own.id));
  await eventually(() => images.every((id) => imagesOf().includes(id)));
  const arrived = imagesOf().filter((id) => id !== early);
  assert.deepEqual(arrived.toSorted(), [...images, own.id].toSorted());
  assert.deepEqual(bodies().find(({ data }) => data.id === images[0]).account_id, one.accountId);
  assert.equal((await delivery.send(operator, "GET", pathOf(endpoint))).body.scope, "all");
  assert.equal((await delivery.deliveriesOf(one)).length, 0, "the delivery is the operator's, not the account's");
  await eventually(async () => (await delivery.deliveriesOf(operator)).length === bodies().length);
});

test("only an administrator of all accounts creates such an endpoint, after a step-up, and no endpoint can become one", async () => {
  const given = { url: receiver.url, event_types: ["*"], scope: "all" };
  const owner = testPerson({ scopes: without("account:admin") });
  const create = (who: TestPerson) => delivery.send(who, "POST", endpointsPath, { body: given });
  assert.equal((await create(owner)).status, 403);
  const stale = testPerson({ authTimeMs: 0 });
  const refused = await create(stale);
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [403, "step_up_required"]);
  const plain = await delivery.newEndpoint(owner, { url: receiver.url });
  const patched = await delivery.send(owner, "PATCH", pathOf(plain), { body: { scope: "all" } });
  assert.deepEqual([patched.status, patched.body.error.details[0].field], [422, "scope"]);
  assert.equal((await delivery.send(owner, "GET", pathOf(plain))).body.scope, "account");
  const mutation = `mutation($input: CreateWebhookEndpointInput!) {
    createWebhookEndpoint(input: $input) { webhookEndpoint { scope } errors { code } } }`;
  const input = { url: receiver.url, eventTypes: ["*"], scope: "all" };
  const { errors } = await delivery.graphql(owner, mutation, { input });
  assert.equal(errors[0].extensions.code, "FORBIDDEN");
  const made = await delivery.graphql(operator, mutation, { input });
  assert.equal(made.data.createWebhookEndpoint.webhookEndpoint.scope, "all");
});

test("a credential of the operator without that scope neither reads nor redirects the events of others", async () => {
  const endpoint = await everybodys();
  const who = testPerson();
  const image = await delivery.createImage(who.accountId);
  const posted = await receiver.waitFor(({ body }) => body.includes(image));
  const id = JSON.parse(posted.body.toString()).id;
  const [sent] = await delivery.deliveriesOf(operator);
  assert.equal((await delivery.send(operator, "GET", `${eventsPath}/${id}`)).body.body, posted.body.toString());
  const key = keyWithoutPower();
  assert.equal((await delivery.send(key, "GET", `${eventsPath}/${id}`)).status, 404);
  assert.deepEqual((await delivery.send(key, "GET", eventsPath)).body.items, []);
  assert.equal(
    (await delivery.send(who, "GET", `${eventsPath}/${id}`)).status,
    404,
    "no endpoint of the account subscribes to it",
  );
  await delivery.send(operator, "POST", `${pathOf(endpoint)}/pause`);
  const refusals = [
    ["PATCH", pathOf(endpoint), { url: `${receiver.url}/elsewhere` }],
    ["POST", `${pathOf(endpoint)}/resume`],
    ["POST", `${pathOf(endpoint)}/enable`],
    ["POST", `${pathOf(endpoint)}/secret/rotate`, {}],
    ["POST", `${pathOf(endpoint)}/secret/reveal`],
    ["DELETE", `${pathOf(endpoint)}/secret/previous`],
    ["POST", "/api/v1/webhooks/replays", { endpoint_id: endpoint.id, from: "2020-01-01T00:00:00Z" }],
    ["POST", `/api/v1/webhooks/deliveries/${sent?.id}/retry`],
  ] as const;
  for (const [method, path, body] of refusals) {
    const { status, text } = await delivery.send(key, method, path, { body });
    assert.equal(status, 403, `${method} ${path}: ${text}`);
  }
});

test("an endpoint of a former operator gets nothing more, and shows the reason", async () => {
  const endpoint = await everybodys();
  const who = testPerson();
  await delivery.createImage(who.accountId);
  await receiver.waitFor(() => true);
  delivery.account.dismissed.add(operator.accountId);
  await delivery.changeState(operator.accountId, "active"); // as when a role is taken
  const shown = await eventually(async () => {
    const { body } = await delivery.send(operator, "GET", pathOf(endpoint));
    return body.status === "disabled" ? body : false;
  });
  assert.equal(shown.disabled_reason, "scope");
  const [, disabled] = await delivery.eventsOf(operator.accountId, 2);
  assert.deepEqual(
    [disabled?.name, (disabled?.data as { changed?: string[] } | undefined)?.changed],
    ["webhook_endpoint.updated", ["status", "disabled_reason"]],
  );
  const enable = await delivery.send(keyWithoutPower(), "POST", `${pathOf(endpoint)}/enable`);
  assert.equal(enable.status, 403);
});

test("while an operator is suspended the events of others are held, and go out afterwards", async () => {
  await everybodys();
  await delivery.changeState(operator.accountId, "suspended");
  const image = await delivery.createImage(testPerson().accountId);
  await eventually(async () => (await delivery.deliveriesOf(operator, "&status=held")).length === 1);
  assert.equal(receiver.requests.length, 0);
  await delivery.changeState(operator.accountId, "active");
  await receiver.waitFor(({ body }) => body.includes(image));
});

test("purging an account erases its events at operators, and its deletion is still delivered", async () => {
  const endpoint = await everybodys(["image.created", "account.deleted"]);
  const who = testPerson();
  const image = await delivery.createImage(who.accountId);
  await receiver.waitFor(({ body }) => body.includes(image));
  const { accountId } = who;
  const data = { ...eventOf("account.deleted").example, id: accountId };
  await delivery.publish(draft("account.deleted", { subject: accountId, accountId, data }));
  await receiver.waitFor(({ body }) => body.includes("account.deleted"));
  const kept = await eventually(async () => {
    const { body } = await delivery.send(operator, "GET", `${eventsPath}?type=image.created`);
    return body.items.some(({ body: text }: { body: string }) => text.includes(image)) ? false : body.items;
  });
  assert.equal(JSON.parse(kept[0].body).data, null);
  const retried = (await delivery.deliveriesOf(operator, "&type=image.created"))[0];
  receiver.clear();
  await delivery.send(operator, "POST", `/api/v1/webhooks/deliveries/${retried?.id}/retry`);
  const again = await receiver.waitFor(() => true);
  assert.equal(JSON.parse(again.body.toString()).account_id, accountId);
  assert.ok(!again.body.includes(image));
  await delivery.send(operator, "DELETE", pathOf(endpoint));
});
