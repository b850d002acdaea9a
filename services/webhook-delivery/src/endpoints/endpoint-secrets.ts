import type { Caller } from "@signalbox/auth";
import { examples } from "@signalbox/contracts";
import { ok } from "@signalbox/http";
import { audited, type OwnRow, operation, tooMany } from "@signalbox/service";
import { rotate, type Tx } from "@signalbox/storage";
import { createEndpointSecret } from "@signalbox/webhook-signatures";
import { z } from "zod";
import type { DeliveryService } from "../context/delivery-service.ts";
import { type Endpoint, endpointUpdated, requireScopeOf } from "./endpoint.ts";
import { lockEndpoint, saveEndpoint } from "./endpoint-store.ts";
import { describeOutcome, EndpointInFullResource, endpointInFull, endpointInFullExample } from "./endpoint-view.ts";
import { findSecret, insertSecret, keepSecrets } from "./secret-store.ts";
import { OverlapBody, overlapMsOf } from "./signing-keys.ts";

/** Every live secret adds a signature to a header of every delivery. */
const liveSecretsMax = 5;

async function rotateSecret(service: DeliveryService, tx: Tx, caller: Caller, endpoint: Endpoint, overlapMs: number) {
  const { clock, sealer } = service;
  requireScopeOf(endpoint, caller);
  const now = clock.now();
  const rotation = rotate(endpoint.secrets, { max: liveSecretsMax, overlapMs, now });
  if (rotation.outcome !== "rotated") return rotation;
  const secret = createEndpointSecret();
  await keepSecrets(tx, endpoint.id, rotation.older);
  const secrets = [await insertSecret(tx, sealer, endpoint.id, secret, now), ...rotation.older];
  return { outcome: "rotated", endpoint: await saveRotated(service, tx, caller, endpoint, secrets), secret } as const;
}

async function removePreviousSecrets(service: DeliveryService, tx: Tx, caller: Caller, endpoint: Endpoint) {
  requireScopeOf(endpoint, caller);
  const secrets = endpoint.secrets.filter(({ endsAt }) => endsAt === null);
  if (secrets.length === endpoint.secrets.length) return;
  await keepSecrets(tx, endpoint.id, secrets);
  await saveRotated(service, tx, caller, endpoint, secrets);
}

/** Shows the secret of an endpoint; null when the caller has no such endpoint. */
async function revealSecret({ sealer, outbox }: DeliveryService, tx: Tx, caller: Caller, id: string) {
  const secret = await findSecret(tx, sealer, caller.accountId, id);
  const endpoint = secret === null ? null : await lockEndpoint(tx, caller, id);
  if (secret === null || endpoint === null) return null;
  requireScopeOf(endpoint, caller);
  await outbox.append(tx, [audited(caller, { action: "webhook_endpoint.reveal_secret", subject: id })]);
  return secret;
}

async function saveRotated(
  { clock, outbox }: DeliveryService,
  tx: Tx,
  caller: Caller,
  endpoint: Endpoint,
  secrets: Endpoint["secrets"],
): Promise<Endpoint> {
  const changed = { ...endpoint, secrets, revision: endpoint.revision + 1, updatedAt: clock.now() };
  await saveEndpoint(tx, changed);
  const change = { action: "webhook_endpoint.rotate_secret", subject: endpoint.id, fields: ["secret"] } as const;
  await outbox.append(tx, [endpointUpdated(changed, ["secret"]), audited(caller, change)]);
  return changed;
}

const secretExample = "whsec_ZXhhbXBsZSBvZiBhIHNlY3JldCBvZiAzMiBi";

/** An endpoint with its secret, on creation, rotation and reveal. */
export const EndpointWithSecret = EndpointInFullResource.extend({
  secret: z.string().describe("Secret that verifies deliveries. Shown on creation, rotation and reveal only."),
})
  .meta({ id: "WebhookEndpointWithSecret" })
  .register(examples, { example: { ...endpointInFullExample, secret: secretExample } });

const EndpointSecret = z
  .object({
    secret: z
      .string()
      .meta({ examples: [secretExample] })
      .describe("The secret that signs deliveries; shown only here."),
  })
  .meta({ id: "WebhookEndpointSecret" });

const one = "/api/v1/webhooks/endpoints/:id";
/** A secret allows forged deliveries, so showing one needs a step-up. */
const secretWrite = { scopes: ["webhooks:write"], stepUp: true, portal: true } as const;

export const withSecret = {
  webhookEndpoint: ({ endpoint }: { readonly endpoint: Endpoint }) => endpoint,
  secret: ({ secret }: { readonly secret: string }) => secret,
};

export function secretOperations(service: DeliveryService, of: OwnRow<Endpoint, { readonly id: string }>) {
  return {
    rotateWebhookEndpointSecret: operation({
      summary: "Rotate the secret of the endpoint",
      description:
        "Deliveries carry signatures of all valid secrets, five at most, until the overlap of each rotation has ended.",
      auth: secretWrite,
      audit: "webhook_endpoint.rotate_secret",
      input: OverlapBody,
      of,
      async change(tx, endpoint, { caller, input }) {
        const overlapMs = overlapMsOf(service, input.overlap_seconds);
        return describeOutcome(service, tx, caller, await rotateSecret(service, tx, caller, endpoint, overlapMs));
      },
      refusals: {
        "limit-reached": ({ max }) =>
          tooMany(
            "secret",
            `The endpoint has ${max} valid secrets; end the older ones, or rotate with an overlap of 0 seconds.`,
          ),
      },
      rest: {
        post: `${one}/secret/rotate`,
        responses: { 200: EndpointWithSecret },
        idempotent: "sealed",
        answer: ({ endpoint, secret }) => ok({ ...endpointInFull(service, endpoint), secret }),
      },
      graph: { payload: withSecret, type: "WebhookEndpointWithSecretPayload" },
    }),
    deletePreviousWebhookEndpointSecrets: operation({
      summary: "End the overlap of rotations: only the newest secret signs",
      description: "Receivers that still verify with an older secret refuse deliveries from then on.",
      auth: secretWrite,
      audit: "webhook_endpoint.rotate_secret",
      of,
      change: (tx, endpoint, { caller }) => removePreviousSecrets(service, tx, caller, endpoint),
      rest: { delete: `${one}/secret/previous`, responses: { 204: "empty" }, idempotent: true },
      graph: {
        payload: { webhookEndpointId: (_, { params }) => params.id },
        type: "DeletePreviousWebhookEndpointSecretsPayload",
      },
    }),
    revealWebhookEndpointSecret: operation({
      summary: "Show the secret",
      description: "Needs a recent sign-in, and is recorded in the audit.",
      auth: secretWrite,
      audit: "webhook_endpoint.reveal_secret",
      async create(tx, { caller, params }) {
        const secret = await revealSecret(service, tx, caller, params.id);
        return secret === null ? ({ outcome: "missing" } as const) : { secret };
      },
      refusals: { missing: { code: "not_found", message: of.missing } },
      rest: {
        post: `${one}/secret/reveal`,
        responses: { 200: EndpointSecret },
        cache: "no-store",
        answer: ({ secret }) => ok({ secret }),
      },
      graph: { payload: { secret: ({ secret }) => secret }, type: "RevealWebhookEndpointSecretPayload" },
    }),
  };
}
