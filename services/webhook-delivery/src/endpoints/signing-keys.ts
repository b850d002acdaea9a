import type { Caller } from "@signalbox/auth";
import { examples, identifier, overlapSeconds, timestamp } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import { ok } from "@signalbox/http";
import { audited, type Edges, edgesOf, operation, tooMany } from "@signalbox/service";
import { rotate, type Tx, viewValue } from "@signalbox/storage";
import { createSigningKey } from "@signalbox/webhook-signatures";
import { z } from "zod";
import type { DeliveryService } from "../context/delivery-service.ts";
import { touchEndpointsOf } from "./endpoint-store.ts";
import { insertSigningKey, listSigningKeys, lockSigningKeys, type SigningKey } from "./signing-key-store.ts";

/** Every live key adds a signature to every `v1a` delivery. */
const liveKeysMax = 5;

/** Creates the first Ed25519 key of the account, unless it has one. Keys sign its `v1a` deliveries. */
export async function ensureSigningKey({ sealer, clock }: DeliveryService, tx: Tx, accountId: string): Promise<void> {
  const at = clock.now();
  if ((await lockSigningKeys(tx, accountId, at)).length > 0) return;
  await insertSigningKey(tx, sealer, accountId, createSigningKey(), at);
}

/** Adds a key; the previous ones sign until their overlaps end. New revisions make each process read the keys again. */
async function rotateSigningKey(service: DeliveryService, tx: Tx, caller: Caller, overlapSeconds?: number) {
  const { sealer, outbox, clock } = service;
  const { accountId } = caller;
  const at = clock.now();
  const live = await lockSigningKeys(tx, accountId, at);
  const rotation = rotate(live, { max: liveKeysMax, overlapMs: overlapMsOf(service, overlapSeconds), now: at });
  if (rotation.outcome !== "rotated") return rotation;
  const key = await insertSigningKey(tx, sealer, accountId, createSigningKey(), at, rotation.older);
  await touchEndpointsOf(tx, accountId);
  await outbox.append(tx, [audited(caller, { action: "webhook_signing_key.rotate", subject: key.id })]);
  return { outcome: "rotated", key } as const;
}

export const overlapMsOf = ({ configuration }: DeliveryService, overlapSeconds: number | undefined): number =>
  overlapSeconds === undefined
    ? configuration.get("webhook-delivery.secret.rotation-overlap")
    : seconds(overlapSeconds);

export const OverlapBody = z
  .strictObject({
    overlap_seconds: overlapSeconds("the previous one also signs. Default: a setting of the service").optional(),
  })
  .meta({ id: "RotateWebhookEndpointSecret" })
  .register(examples, { example: { overlap_seconds: 3_600 } });

const SigningKeyResource = z
  .object({
    id: identifier("The key"),
    public_key: z.string().describe("`whpk_` and the 32 bytes of an Ed25519 key in base 64."),
    created_at: timestamp,
    ends_at: timestamp.nullable().describe("Time at which it stops signing; null for the newest."),
  })
  .meta({ id: "WebhookSigningKey", description: "A key for `v1a` signatures of deliveries." })
  .register(examples, {
    example: {
      id: "whp_01kdzq5a7m2n4p6q8r0s1t3v5w",
      public_key: "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=",
      created_at: "2026-01-01T09:00:00.000Z",
      ends_at: null,
    },
  });

const KeySet = z
  .object({ items: z.array(SigningKeyResource).describe("The keys; the first one signs.") })
  .meta({ id: "WebhookSigningKeys" });
const base = "/api/v1/webhooks/keys";

/** The keys that verify `v1a` signatures. Anybody may read the public ones, over REST alone. */
export function signingKeyApi(service: DeliveryService): Edges {
  const edges = edgesOf({
    rotateWebhookSigningKey: operation({
      summary: "Rotate the signing key of the account",
      description: "The previous keys also sign until their overlaps end; at most five are valid.",
      auth: { scopes: ["webhooks:write"], stepUp: true },
      audit: "webhook_signing_key.rotate",
      input: OverlapBody,
      create: (tx, { caller, input }) => rotateSigningKey(service, tx, caller, input.overlap_seconds),
      refusals: {
        "limit-reached": ({ max }) =>
          tooMany(
            "key",
            `The account has ${max} valid keys; wait until one ends, or rotate with an overlap of 0 seconds.`,
          ),
      },
      rest: {
        post: `${base}/rotate`,
        responses: { 200: SigningKeyResource },
        idempotent: true,
        answer: ({ key }) => ok(viewKey(key)),
      },
      graph: {
        payload: { webhookSigningKey: ({ key }) => key },
        inputType: "RotateWebhookEndpointSecretInput",
      },
    }),
  });
  edges.routes.get(base, {
    operationId: "webhookSigningKeys",
    summary: "List the public keys of an account, newest first",
    description:
      "For receivers of `v1a` signatures: any of these keys may sign the next delivery. `account_id` is in the body of every delivery. An account without such signatures has no keys.",
    auth: "anonymous",
    query: z.object({ account_id: z.string().min(1).max(64).describe("The account whose keys are shown.") }),
    responses: { 200: KeySet },
    async handle({ query }) {
      const keys = await listSigningKeys(service.pool, query.account_id, service.clock.now());
      return ok({ items: keys.map(viewKey) });
    },
  });
  return edges;
}

const viewKey = (key: SigningKey) => ({ ...viewValue(key), public_key: key.publicKey });
