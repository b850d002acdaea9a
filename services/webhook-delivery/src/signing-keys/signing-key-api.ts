import { examples, identifier, timestamp } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import { ok } from "@signalbox/http";
import { type Edges, edgesOf, operation } from "@signalbox/service";
import { viewValue } from "@signalbox/storage";
import { z } from "zod";
import { OverlapBody } from "../endpoints/endpoint-bodies.ts";
import { tooManyKeys } from "../refusals.ts";
import type { SigningKey, SigningKeyStore } from "./signing-key-store.ts";
import type { SigningKeys } from "./signing-keys.ts";

export interface SigningKeyApi {
  readonly signingKeys: SigningKeys;
  readonly signingKeyStore: Pick<SigningKeyStore, "list">;
  readonly clock: Clock;
}

const SigningKeyResource = z
  .object({
    id: identifier("The key"),
    public_key: z.string().describe("`whpk_` and the 32 bytes of an Ed25519 key in base 64."),
    created_at: timestamp,
    ends_at: timestamp.nullable().describe("Time at which it stops signing; null for the newest."),
  })
  .meta({ id: "WebhookSigningKey" })
  .register(examples, {
    example: {
      id: "whp_01kdzq5a7m2n4p6q8r0s1t3v5w",
      public_key: "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=",
      created_at: "2026-01-01T09:00:00.000Z",
      ends_at: null,
    },
  });

const KeySet = z.object({ items: z.array(SigningKeyResource) }).meta({ id: "WebhookSigningKeys" });
const base = "/api/v1/webhooks/keys";

/** The keys that verify `v1a` signatures. Anybody may read the public ones, over REST alone. */
export function signingKeyApi({ signingKeys, signingKeyStore, clock }: SigningKeyApi): Edges {
  const edges = edgesOf({
    rotateWebhookSigningKey: operation({
      summary: "Give the account a new signing key",
      description: "The previous keys sign beside it until their overlaps end; at most five are live.",
      auth: { scopes: ["webhooks:write"], stepUp: true },
      audit: "webhook_signing_key.rotate",
      input: OverlapBody,
      create: (tx, { caller, input }) => signingKeys.rotate(tx, caller, input.overlap_seconds),
      refusals: { "limit-reached": tooManyKeys },
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
    query: z.object({ account_id: z.string().min(1).max(64) }),
    responses: { 200: KeySet },
    async handle({ query }) {
      const keys = await signingKeyStore.list(query.account_id, clock.now());
      return ok({ items: keys.map(viewKey) });
    },
  });
  return edges;
}

const viewKey = (key: SigningKey) => ({ ...viewValue(key), public_key: key.publicKey });
