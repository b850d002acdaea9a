import { eventually } from "@signalbox/testing";
import { type Prepare, type Recipes, recipesOf, someone } from "./attempt.ts";

const endpoints = "/api/v1/webhooks/endpoints";
const newEndpoint = { url: "https://hooks.example.org/a", event_types: ["account.updated"] };
const published = { event_types: ["order.created"] };
const start = "2026-01-01T00:00:00Z";

/** A new endpoint, after an action on it. */
const endpoint =
  (before: string | null = null, body: object = newEndpoint): Prepare =>
  async (world) => {
    const { by, ids } = await someone(world);
    const { id } = (await world.send(by, endpoints, { body })).json;
    if (before) await world.send(by, `${endpoints}/${id}/${before}`, { method: "POST" });
    return { by, ids: { ...ids, id, name: "billing" } };
  };

const pullEndpoint = endpoint(null, { type: "pull", ...published });

/** A pull endpoint with the consumer `billing`. */
const consumed: Prepare = async (world) => {
  const { by, ids } = await pullEndpoint(world);
  await world.send(by, `${endpoints}/${ids.id}/consumers/billing`, { method: "PUT", body: { from: "now" } });
  return { by, ids };
};

const portalSession: Prepare = async (world) => {
  const { by } = await someone(world);
  const { id } = (await world.send(by, "/api/v1/webhooks/portal-sessions", { body: {} })).json;
  return { by, ids: { session_id: id } };
};

const eventType: Prepare = async (world) => {
  const { by } = await someone(world);
  await world.send(by, "/api/v1/webhooks/event-types", { body: { name: "order.created" } });
  return { by, ids: { name: "order.created" } };
};

/** An endpoint that was disabled because its receiver answered 410. */
const disabledEndpoint: Prepare = async (world) => {
  const { by, ids } = await endpoint(null, { ...newEndpoint, url: world.goneUrl })(world);
  await world.send(by, "/api/account/", { method: "PATCH", body: { display_name: "Eve" } });
  await eventually(async () => (await world.send(by, `${endpoints}/${ids.id}`)).json.status === "disabled");
  return { by, ids };
};

/** A delivery of an event that was published to an endpoint of its account, after an action on the endpoint. */
const deliveryAfter =
  (before: string | null): Prepare =>
  async (world) => {
    const { by } = await endpoint(before, { ...newEndpoint, ...published })(world);
    await world.send(by, "/api/v1/webhooks/events", { body: { type: "order.created", data: {} } });
    return { by, ids: { id: (await world.send(by, "/api/v1/webhooks/deliveries")).json.items[0].id } };
  };
const delivery = deliveryAfter(null);
const heldDelivery = deliveryAfter("pause");

/** A slow replay: of some deliveries that a server took, one a second. */
const runningReplay: Prepare = async (world) => {
  const { by, ids } = await endpoint(null, { url: world.photoUrl, ...published })(world);
  const events = Array.from({ length: 20 }, (_, nth) => ({ type: "order.created", data: { nth } }));
  await world.send(by, "/api/v1/webhooks/events", { body: events });
  const ended = "/api/v1/webhooks/deliveries?status=succeeded&limit=20";
  await eventually(async () => (await world.send(by, ended)).json.items.length === 20);
  const replay = { endpoint_id: ids.id, from: start, rate: 1 };
  return { by, ids: { id: (await world.send(by, "/api/v1/webhooks/replays", { body: replay })).json.id } };
};

/** Recipes of each audited write to endpoints, event types and deliveries. */
export const deliveryRecipes: Recipes = {
  ...recipesOf(someone, {
    "POST /api/v1/webhooks/portal-sessions": {},
    "POST /api/v1/webhooks/endpoints": newEndpoint,
    "POST /api/v1/webhooks/endpoints/listen": published,
    "POST /api/v1/webhooks/event-types": { name: "order.created" },
    "POST /api/v1/webhooks/keys/rotate": null,
    "Mutation.createWebhookEndpoint": `createWebhookEndpoint(input: { url: "${newEndpoint.url}", eventTypes: ["account.updated"] })`,
    "Mutation.createWebhookEventType": 'createWebhookEventType(input: { name: "order.created" })',
    "Mutation.rotateWebhookSigningKey": null,
  }),
  ...recipesOf(portalSession, { "DELETE /api/v1/webhooks/portal-sessions/{session_id}": null }),
  ...recipesOf(endpoint(), {
    "PATCH /api/v1/webhooks/endpoints/{id}": { url: "https://hooks.example.org/b" },
    "DELETE /api/v1/webhooks/endpoints/{id}": null,
    "POST /api/v1/webhooks/endpoints/{id}/pause": null,
    "POST /api/v1/webhooks/endpoints/{id}/secret/rotate": null,
    "POST /api/v1/webhooks/endpoints/{id}/secret/reveal": null,
    "POST /api/v1/webhooks/endpoints/{id}/test": null,
    "POST /api/v1/webhooks/replays": ({ ids: { id } }) => ({ endpoint_id: id, from: start }),
    "POST /api/v1/webhooks/deliveries/retry": ({ ids: { id } }) => ({ endpoint_id: id }),
    "Mutation.updateWebhookEndpoint": 'updateWebhookEndpoint(id: {id}, input: { url: "https://hooks.example.org/b" })',
    "Mutation.deleteWebhookEndpoint": "deleteWebhookEndpoint(id: {id})",
    "Mutation.pauseWebhookEndpoint": "pauseWebhookEndpoint(id: {id})",
    "Mutation.rotateWebhookEndpointSecret": "rotateWebhookEndpointSecret(id: {id})",
    "Mutation.revealWebhookEndpointSecret": "revealWebhookEndpointSecret(id: {id})",
    "Mutation.testWebhookEndpoint": "testWebhookEndpoint(id: {id})",
    "Mutation.retryWebhookDeliveries": "retryWebhookDeliveries(input: { endpointId: {id} })",
    "Mutation.startWebhookReplay": `startWebhookReplay(input: { endpointId: {id}, from: "${start}" })`,
  }),
  ...recipesOf(endpoint("pause"), {
    "POST /api/v1/webhooks/endpoints/{id}/resume": null,
    "Mutation.resumeWebhookEndpoint": "resumeWebhookEndpoint(id: {id})",
  }),
  ...recipesOf(endpoint("secret/rotate"), {
    "DELETE /api/v1/webhooks/endpoints/{id}/secret/previous": null,
    "Mutation.deletePreviousWebhookEndpointSecrets": "deletePreviousWebhookEndpointSecrets(id: {id})",
  }),
  ...recipesOf(disabledEndpoint, {
    "POST /api/v1/webhooks/endpoints/{id}/enable": null,
    "Mutation.enableWebhookEndpoint": "enableWebhookEndpoint(id: {id})",
  }),
  ...recipesOf(pullEndpoint, { "PUT /api/v1/webhooks/endpoints/{id}/consumers/{name}": { from: "now" } }),
  ...recipesOf(consumed, { "DELETE /api/v1/webhooks/endpoints/{id}/consumers/{name}": null }),
  ...recipesOf(delivery, {
    "POST /api/v1/webhooks/deliveries/{id}/retry": null,
    "Mutation.retryWebhookDelivery": "retryWebhookDelivery(id: {id})",
  }),
  ...recipesOf(heldDelivery, {
    "DELETE /api/v1/webhooks/deliveries/{id}": null,
    "Mutation.cancelWebhookDelivery": "cancelWebhookDelivery(id: {id})",
  }),
  ...recipesOf(eventType, {
    "PATCH /api/v1/webhooks/event-types/{name}": { enforcement: "warn" },
    "DELETE /api/v1/webhooks/event-types/{name}": null,
    "Mutation.updateWebhookEventType": 'updateWebhookEventType(name: {name}, input: { enforcement: "warn" })',
    "Mutation.deleteWebhookEventType": "deleteWebhookEventType(name: {name})",
  }),
  ...recipesOf(runningReplay, {
    "POST /api/v1/webhooks/replays/{id}/cancel": null,
    "Mutation.cancelWebhookReplay": "cancelWebhookReplay(id: {id})",
  }),
};
