import { eventually } from "@signalbox/testing";
import type { Person } from "../world.ts";
import { type Attempt, fresh, mutation, type Recipe, type Recipes, rest } from "./attempt.ts";

const endpoints = "/api/v1/webhooks/endpoints";
const newEndpoint = { url: "https://hooks.example.org/a", event_types: ["account.updated"] };
const endpoint = (make: (person: Person, path: string) => Attempt, before: readonly string[] = []): Recipe =>
  fresh(async (person, { send }) => {
    const { id } = (await send(person.headers, endpoints, { body: newEndpoint })).json;
    for (const action of before) await send(person.headers, `${endpoints}/${id}/${action}`, { method: "POST" });
    return make(person, `${endpoints}/${id}`);
  });

/** A pull endpoint, with the named consumer of `before`. */
const pullEndpoint = (make: (person: Person, path: string) => Attempt, before: string | null = null): Recipe =>
  fresh(async (person, { send }) => {
    const body = { type: "pull", event_types: ["order.created"] };
    const { id } = (await send(person.headers, endpoints, { body })).json;
    const path = `${endpoints}/${id}/consumers`;
    if (before) await send(person.headers, `${path}/${before}`, { method: "PUT", body: { from: "now" } });
    return make(person, path);
  });

const portalSessions = "/api/v1/webhooks/portal-sessions";
const eventTypes = "/api/v1/webhooks/event-types";
const eventType = (make: (person: Person, path: string) => Attempt): Recipe =>
  fresh(async (person, { send }) => {
    await send(person.headers, eventTypes, { body: { name: "order.created" } });
    return make(person, `${eventTypes}/order.created`);
  });

/** An endpoint that was disabled because its receiver answered 410. */
const disabledEndpoint = (make: (person: Person, path: string) => Attempt): Recipe =>
  fresh(async (person, { send, goneUrl: url }) => {
    const { id } = (await send(person.headers, endpoints, { body: { ...newEndpoint, url } })).json;
    await send(person.headers, "/api/account/", { method: "PATCH", body: { display_name: "Eve" } });
    const path = `${endpoints}/${id}`;
    await eventually(async () => (await send(person.headers, path)).json.status === "disabled");
    return make(person, path);
  });

/** A delivery of an event that was published to an endpoint of its account. */
const delivery = (make: (person: Person, id: string) => Attempt): Recipe =>
  fresh(async (person, { send }) => {
    await send(person.headers, endpoints, { body: { ...newEndpoint, event_types: ["order.created"] } });
    await send(person.headers, "/api/v1/webhooks/events", { body: { type: "order.created", data: {} } });
    const { items } = (await send(person.headers, "/api/v1/webhooks/deliveries")).json;
    return make(person, items[0].id);
  });

/** A slow replay: of some deliveries that a server took, one a second. */
const runningReplay = (make: (person: Person, id: string) => Attempt): Recipe =>
  fresh(async (person, { send, photoUrl: url }) => {
    const body = { ...newEndpoint, url, event_types: ["order.created"] };
    const { id: endpoint_id } = (await send(person.headers, endpoints, { body })).json;
    const events = Array.from({ length: 20 }, (_, nth) => ({ type: "order.created", data: { nth } }));
    await send(person.headers, "/api/v1/webhooks/events", { body: events });
    const ended = "/api/v1/webhooks/deliveries?status=succeeded&limit=20";
    await eventually(async () => (await send(person.headers, ended)).json.items.length === 20);
    const replay = { endpoint_id, from: "2026-01-01T00:00:00Z", rate: 1 };
    return make(person, (await send(person.headers, "/api/v1/webhooks/replays", { body: replay })).json.id);
  });

/** A mutation of the endpoint, or the type, of a path: ID stands for the last step. */
const ofPath =
  (call: string) =>
  (person: Person, path: string): Attempt =>
    mutation(person, call.replace("ID", `"${path.split("/").at(-1)}"`));

/** Recipes of each audited write to endpoints, event types and deliveries. */
export const deliveryRecipes: Recipes = {
  "POST /api/v1/webhooks/portal-sessions": fresh((person) => rest(person, "POST", portalSessions, {})),
  "DELETE /api/v1/webhooks/portal-sessions/{session_id}": fresh(async (person, { send }) => {
    const { id } = (await send(person.headers, portalSessions, { body: {} })).json;
    return rest(person, "DELETE", `${portalSessions}/${id}`);
  }),
  "POST /api/v1/webhooks/endpoints": fresh((person) => rest(person, "POST", endpoints, newEndpoint)),
  "PATCH /api/v1/webhooks/endpoints/{id}": endpoint((person, path) =>
    rest(person, "PATCH", path, { url: "https://hooks.example.org/b" }),
  ),
  "DELETE /api/v1/webhooks/endpoints/{id}": endpoint((person, path) => rest(person, "DELETE", path)),
  "POST /api/v1/webhooks/endpoints/listen": fresh((person) =>
    rest(person, "POST", `${endpoints}/listen`, { event_types: ["order.created"] }),
  ),
  "PUT /api/v1/webhooks/endpoints/{id}/consumers/{name}": pullEndpoint((person, path) =>
    rest(person, "PUT", `${path}/billing`, { from: "now" }),
  ),
  "DELETE /api/v1/webhooks/endpoints/{id}/consumers/{name}": pullEndpoint(
    (person, path) => rest(person, "DELETE", `${path}/billing`),
    "billing",
  ),
  "POST /api/v1/webhooks/endpoints/{id}/pause": endpoint((person, path) => rest(person, "POST", `${path}/pause`)),
  "POST /api/v1/webhooks/endpoints/{id}/resume": endpoint(
    (person, path) => rest(person, "POST", `${path}/resume`),
    ["pause"],
  ),
  "POST /api/v1/webhooks/endpoints/{id}/enable": disabledEndpoint((person, path) =>
    rest(person, "POST", `${path}/enable`),
  ),
  "POST /api/v1/webhooks/endpoints/{id}/secret/rotate": endpoint((person, path) =>
    rest(person, "POST", `${path}/secret/rotate`),
  ),
  "DELETE /api/v1/webhooks/endpoints/{id}/secret/previous": endpoint(
    (person, path) => rest(person, "DELETE", `${path}/secret/previous`),
    ["secret/rotate"],
  ),
  "POST /api/v1/webhooks/endpoints/{id}/secret/reveal": endpoint((person, path) =>
    rest(person, "POST", `${path}/secret/reveal`),
  ),
  "POST /api/v1/webhooks/endpoints/{id}/test": endpoint((person, path) => rest(person, "POST", `${path}/test`)),
  "POST /api/v1/webhooks/deliveries/{id}/retry": delivery((person, id) =>
    rest(person, "POST", `/api/v1/webhooks/deliveries/${id}/retry`),
  ),
  "POST /api/v1/webhooks/event-types": fresh((person) => rest(person, "POST", eventTypes, { name: "order.created" })),
  "PATCH /api/v1/webhooks/event-types/{name}": eventType((person, path) =>
    rest(person, "PATCH", path, { enforcement: "warn" }),
  ),
  "DELETE /api/v1/webhooks/event-types/{name}": eventType((person, path) => rest(person, "DELETE", path)),
  "POST /api/v1/webhooks/replays": endpoint((person, path) =>
    rest(person, "POST", "/api/v1/webhooks/replays", {
      endpoint_id: path.split("/").at(-1),
      from: "2026-01-01T00:00:00Z",
    }),
  ),
  "POST /api/v1/webhooks/replays/{id}/cancel": runningReplay((person, id) =>
    rest(person, "POST", `/api/v1/webhooks/replays/${id}/cancel`),
  ),
  "POST /api/v1/webhooks/keys/rotate": fresh((person) => rest(person, "POST", "/api/v1/webhooks/keys/rotate")),
  "Mutation.createWebhookEndpoint": fresh((person) => {
    const input = `{ url: "${newEndpoint.url}", eventTypes: ${JSON.stringify(newEndpoint.event_types)} }`;
    return mutation(person, `createWebhookEndpoint(input: ${input})`);
  }),
  "Mutation.updateWebhookEndpoint": endpoint(
    ofPath('updateWebhookEndpoint(id: ID, input: { url: "https://hooks.example.org/b" })'),
  ),
  "Mutation.deleteWebhookEndpoint": endpoint(ofPath("deleteWebhookEndpoint(id: ID)")),
  "Mutation.pauseWebhookEndpoint": endpoint(ofPath("pauseWebhookEndpoint(id: ID)")),
  "Mutation.resumeWebhookEndpoint": endpoint(ofPath("resumeWebhookEndpoint(id: ID)"), ["pause"]),
  "Mutation.enableWebhookEndpoint": disabledEndpoint(ofPath("enableWebhookEndpoint(id: ID)")),
  "Mutation.rotateWebhookEndpointSecret": endpoint(ofPath("rotateWebhookEndpointSecret(id: ID)")),
  "Mutation.deletePreviousWebhookEndpointSecrets": endpoint(ofPath("deletePreviousWebhookEndpointSecrets(id: ID)"), [
    "secret/rotate",
  ]),
  "Mutation.revealWebhookEndpointSecret": endpoint(ofPath("revealWebhookEndpointSecret(id: ID)")),
  "Mutation.testWebhookEndpoint": endpoint(ofPath("testWebhookEndpoint(id: ID)")),
  "Mutation.retryWebhookDelivery": delivery(ofPath("retryWebhookDelivery(id: ID)")),
  "Mutation.createWebhookEventType": fresh((person) =>
    mutation(person, 'createWebhookEventType(input: { name: "order.created" })'),
  ),
  "Mutation.updateWebhookEventType": eventType(
    ofPath('updateWebhookEventType(name: ID, input: { enforcement: "warn" })'),
  ),
  "Mutation.deleteWebhookEventType": eventType(ofPath("deleteWebhookEventType(name: ID)")),
  "Mutation.startWebhookReplay": endpoint(
    ofPath('startWebhookReplay(input: { endpointId: ID, from: "2026-01-01T00:00:00Z" })'),
  ),
  "Mutation.cancelWebhookReplay": runningReplay(ofPath("cancelWebhookReplay(id: ID)")),
  "Mutation.rotateWebhookSigningKey": fresh((person) => mutation(person, "rotateWebhookSigningKey")),
};
