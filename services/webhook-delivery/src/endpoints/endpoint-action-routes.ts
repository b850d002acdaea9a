import { WebhookEndpointResource, webhookEndpointExample } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import { createRoutes, type HttpResponse, noContent, ok, type Routes, refused, refusedWith } from "@signalbox/http";
import { z } from "zod";
import { AttemptResource, viewAttempt } from "../deliveries/attempt-resource.ts";
import type { TestEndpoint } from "../queue/test-endpoint.ts";
import { disabledEndpoint, tooManySecrets } from "../refusals.ts";
import { viewEndpoint } from "./endpoint.ts";
import { EndpointWithSecret, OverlapBody, secretExample } from "./endpoint-bodies.ts";
import { endpointsPath, ownEndpoint, showEndpoint } from "./endpoint-routes.ts";
import type { EndpointSecrets } from "./endpoint-secrets.ts";
import type { EndpointStatus, StatusOutcome } from "./endpoint-status.ts";
import type { EndpointStore } from "./endpoint-store.ts";

export interface EndpointActionRoutes {
  readonly endpointSecrets: EndpointSecrets;
  readonly endpointStatus: EndpointStatus;
  readonly endpointStore: EndpointStore;
  readonly testEndpoint: TestEndpoint;
}

/** Time of the longest attempt and of its record. */
const testDeadlineMs = seconds(40);

const write = { scopes: ["webhooks:write"] } as const;
/** A secret allows forged deliveries, so showing one needs a step-up. */
const secretWrite = { scopes: ["webhooks:write"], stepUp: true } as const;

const SecretBody = z
  .object({ secret: z.string().meta({ examples: [secretExample] }) })
  .meta({ id: "WebhookEndpointSecret" });
const statusActions = [
  ["pause", "pauseWebhookEndpoint", "Pause an endpoint and hold its deliveries"],
  ["resume", "resumeWebhookEndpoint", "Resume a paused endpoint, held deliveries first"],
  ["enable", "enableWebhookEndpoint", "Enable a disabled endpoint, held deliveries first"],
] as const;

/** REST routes that act on an endpoint: status, secrets, test. */
export function endpointActionRoutes(parts: EndpointActionRoutes): Routes {
  const routes = createRoutes({ exampleIds: { id: webhookEndpointExample.id } });
  declareStatus(routes, parts);
  declareSecrets(routes, parts);
  declareTest(routes, parts);
  return routes;
}

function declareTest(routes: Routes, { endpointStore, testEndpoint }: EndpointActionRoutes): void {
  routes.post(`${endpointsPath}/:id/test`, {
    operationId: "testWebhookEndpoint",
    summary: "Send a test event now, and see what comes back",
    description:
      "Posts `webhook_endpoint.test` once, with the endpoint as its data, at any status of the endpoint. The answer is the attempt, even a failed one.",
    auth: write,
    audit: "webhook_endpoint.test",
    responses: { 200: AttemptResource, 404: "error", 503: "error" },
    deadlineMs: testDeadlineMs,
    async handle({ caller, params }) {
      const endpoint = await endpointStore.find(caller.accountId, params.id);
      if (endpoint === null) return refused(404, "not_found");
      const attempt = await testEndpoint(caller, endpoint);
      return attempt ? ok(viewAttempt(attempt)) : refused(503, "unavailable");
    },
  });
}

function declareStatus(routes: Routes, { endpointStatus, endpointStore }: EndpointActionRoutes): void {
  for (const [action, operationId, summary] of statusActions) {
    routes.post(`${endpointsPath}/:id/${action}`, {
      operationId,
      summary,
      auth: write,
      audit: `webhook_endpoint.${action}`,
      responses: { 200: WebhookEndpointResource, 404: "error", 409: "error" },
      idempotent: true,
      write: {
        ...ownEndpoint(endpointStore),
        change: (tx, endpoint, { caller }) => endpointStatus[action](tx, caller, endpoint),
        answer: answerOfStatus,
      },
    });
  }
}

function declareSecrets(routes: Routes, { endpointSecrets, endpointStore }: EndpointActionRoutes): void {
  routes.post(`${endpointsPath}/:id/secret/rotate`, {
    operationId: "rotateWebhookEndpointSecret",
    summary: "Give the endpoint a new secret",
    description:
      "Deliveries carry the signatures of all live secrets, five at most, until the overlap of each rotation has ended.",
    auth: secretWrite,
    audit: "webhook_endpoint.rotate_secret",
    body: OverlapBody,
    responses: { 200: EndpointWithSecret, 404: "error", 409: "error" },
    idempotent: "sealed",
    write: {
      ...ownEndpoint(endpointStore),
      change: (tx, endpoint, { caller, body }) => endpointSecrets.rotate(tx, caller, endpoint, body.overlap_seconds),
      answer: answerOfRotation,
    },
  });

  routes.delete(`${endpointsPath}/:id/secret/previous`, {
    operationId: "deletePreviousWebhookEndpointSecrets",
    summary: "End the overlap of rotations: only the newest secret signs",
    auth: secretWrite,
    audit: "webhook_endpoint.rotate_secret",
    responses: { 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    write: {
      ...ownEndpoint(endpointStore),
      change: (tx, endpoint, { caller }) => endpointSecrets.removePrevious(tx, caller, endpoint),
      answer: () => noContent(),
    },
  });

  routes.post(`${endpointsPath}/:id/secret/reveal`, {
    operationId: "revealWebhookEndpointSecret",
    summary: "Show the secret",
    auth: secretWrite,
    audit: "webhook_endpoint.reveal_secret",
    responses: { 200: SecretBody, 404: "error" },
    cache: "no-store",
    create: {
      run: (tx, { caller, params }) => endpointSecrets.reveal(tx, caller, params.id),
      answer: (secret) => (secret === null ? refused(404, "not_found") : ok({ secret })),
    },
  });
}

function answerOfRotation(result: Awaited<ReturnType<EndpointSecrets["rotate"]>>): HttpResponse {
  switch (result.outcome) {
    case "rotated":
      return ok({ ...viewEndpoint(result.endpoint), secret: result.secret });
    case "limit-reached":
      return refusedWith(tooManySecrets(result));
  }
}

function answerOfStatus(result: StatusOutcome): HttpResponse {
  switch (result.outcome) {
    case "changed":
      return showEndpoint(result.endpoint);
    case "disabled":
      return refusedWith(disabledEndpoint);
  }
}
