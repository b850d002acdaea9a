import { AppError } from "@signalbox/core";
import { mutation, refusalError, type SubgraphContext } from "@signalbox/graphql";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { TestEndpoint } from "../queue/test-endpoint.ts";
import { withRawMembers } from "../raw-members.ts";
import { disabledEndpoint, refusedEndpoint, tooManySecrets } from "../refusals.ts";
import type { Endpoint } from "./endpoint.ts";
import { CreateEndpointBody, OverlapBody, UpdateEndpointBody } from "./endpoint-bodies.ts";
import type { EndpointSecrets } from "./endpoint-secrets.ts";
import type { EndpointStatus } from "./endpoint-status.ts";
import type { EndpointStore } from "./endpoint-store.ts";
import type { Endpoints } from "./endpoints.ts";

export interface EndpointMutations {
  readonly endpoints: Endpoints;
  readonly endpointSecrets: EndpointSecrets;
  readonly endpointStatus: EndpointStatus;
  readonly endpointStore: EndpointStore;
  readonly testEndpoint: TestEndpoint;
}

interface Named {
  readonly id: string;
}

const writers = { scopes: ["webhooks:write"] } as const;
const payload = "webhookEndpoint";
const nothing = z.strictObject({});
const missing = "There is no such endpoint.";

/** GraphQL mutations of endpoints: the operations of REST, with the same rules. */
export function endpointMutations(parts: EndpointMutations) {
  return { ...fieldMutations(parts), ...statusMutations(parts), ...secretMutations(parts) };
}

/** Finds and locks an endpoint of the caller, and changes it. */
const changeOwn = <Result>(
  { endpointStore }: Pick<EndpointMutations, "endpointStore">,
  { caller, write }: SubgraphContext<unknown>,
  { id }: Named,
  change: (tx: Tx, endpoint: Endpoint) => Promise<Result>,
): Promise<Result> => write({ find: (tx) => endpointStore.lock(tx, caller.accountId, id), change, missing });

function fieldMutations(parts: EndpointMutations) {
  const { endpoints, endpointStore, testEndpoint } = parts;
  return {
    createWebhookEndpoint: mutation(
      {
        ...{
          ...writers,
          stepUpFor: "the events of all accounts",
          audit: "webhook_endpoint.create",
          input: withRawMembers(CreateEndpointBody, "settings"),
        },
        payload: withSecret,
      },
      async ({ event_types: eventTypes, ...rest }, { caller, inTransaction }) => {
        const result = await inTransaction((tx) => endpoints.create(tx, caller, { ...rest, eventTypes }));
        if (result.outcome !== "created") throw refusalError(refusedEndpoint(result));
        return result;
      },
    ),
    updateWebhookEndpoint: mutation(
      {
        ...{ ...writers, stepUpFor: "another URL", audit: "webhook_endpoint.update", payload },
        input: withRawMembers(UpdateEndpointBody, "settings"),
      },
      ({ event_types: eventTypes, ...rest }, context, args: Named) =>
        changeOwn(parts, context, args, (tx, endpoint) =>
          endpoints.update(tx, context.caller, endpoint, { ...rest, eventTypes }),
        ),
    ),
    deleteWebhookEndpoint: mutation(
      { ...writers, audit: "webhook_endpoint.delete", input: nothing, payload: "deletedWebhookEndpointId" },
      async (_input, context, args: Named) => {
        await changeOwn(parts, context, args, (tx, endpoint) => endpoints.delete(tx, context.caller, endpoint));
        return args.id;
      },
    ),
    testWebhookEndpoint: mutation(
      { ...writers, audit: "webhook_endpoint.test", input: nothing, payload: "attempt" },
      async (_input, { caller }, { id }: Named) => {
        const endpoint = await endpointStore.find(caller.accountId, id);
        if (endpoint === null) throw new AppError("not_found", missing);
        const attempt = await testEndpoint(caller, endpoint);
        if (attempt === null) throw new AppError("unavailable", "The service cannot send now.");
        return attempt;
      },
    ),
  };
}

function statusMutations(parts: EndpointMutations) {
  const statusMutation = (action: "pause" | "resume" | "enable") =>
    mutation(
      { ...writers, audit: `webhook_endpoint.${action}`, input: nothing, payload },
      async (_input, context, args: Named) => {
        const result = await changeOwn(parts, context, args, (tx, endpoint) =>
          parts.endpointStatus[action](tx, context.caller, endpoint),
        );
        if (result.outcome !== "changed") throw refusalError(disabledEndpoint);
        return result.endpoint;
      },
    );
  return {
    pauseWebhookEndpoint: statusMutation("pause"),
    resumeWebhookEndpoint: statusMutation("resume"),
    enableWebhookEndpoint: statusMutation("enable"),
  };
}

function secretMutations(parts: EndpointMutations) {
  const { endpointSecrets } = parts;
  /** A secret allows forged deliveries, so showing one needs a step-up. */
  const rotation = { ...writers, stepUp: true, audit: "webhook_endpoint.rotate_secret" } as const;
  return {
    rotateWebhookEndpointSecret: mutation(
      { ...rotation, input: OverlapBody, payload: withSecret },
      async ({ overlap_seconds: overlapSeconds }, context, args: Named) => {
        const result = await changeOwn(parts, context, args, (tx, endpoint) =>
          endpointSecrets.rotate(tx, context.caller, endpoint, overlapSeconds),
        );
        if (result.outcome !== "rotated") throw refusalError(tooManySecrets(result));
        return result;
      },
    ),
    deletePreviousWebhookEndpointSecrets: mutation(
      { ...rotation, input: nothing, payload: "webhookEndpointId" },
      async (_input, context, args: Named) => {
        await changeOwn(parts, context, args, (tx, endpoint) =>
          endpointSecrets.removePrevious(tx, context.caller, endpoint),
        );
        return args.id;
      },
    ),
    revealWebhookEndpointSecret: mutation(
      { ...writers, stepUp: true, audit: "webhook_endpoint.reveal_secret", input: nothing, payload: "secret" },
      async (_input, { caller, inTransaction }, { id }: Named) => {
        const secret = await inTransaction((tx) => endpointSecrets.reveal(tx, caller, id));
        if (secret === null) throw new AppError("not_found", missing);
        return secret;
      },
    ),
  };
}

/** The payload with a secret, shown this once. */
const withSecret = (result: { readonly endpoint: Endpoint; readonly secret: string } | null) => ({
  webhookEndpoint: result?.endpoint ?? null,
  secret: result?.secret ?? null,
});
