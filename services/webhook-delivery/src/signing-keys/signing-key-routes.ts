import { examples, identifier, timestamp } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import { createRoutes, ok, type Routes, refusedWith } from "@signalbox/http";
import { viewValue } from "@signalbox/storage";
import { z } from "zod";
import { OverlapBody } from "../endpoints/endpoint-bodies.ts";
import { tooManyKeys } from "../refusals.ts";
import type { SigningKey, SigningKeyStore } from "./signing-key-store.ts";
import type { SigningKeys } from "./signing-keys.ts";

export interface SigningKeyRoutes {
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

/** REST routes of the keys that verify `v1a` signatures. */
export function signingKeyRoutes({ signingKeys, signingKeyStore, clock }: SigningKeyRoutes): Routes {
  const routes = createRoutes({ exampleIds: {} });

  routes.get(base, {
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

  routes.post(`${base}/rotate`, {
    operationId: "rotateWebhookSigningKey",
    summary: "Give the account a new signing key",
    description: "The previous keys sign beside it until their overlaps end; at most five are live.",
    auth: { scopes: ["webhooks:write"], stepUp: true },
    audit: "webhook_signing_key.rotate",
    body: OverlapBody,
    responses: { 200: SigningKeyResource, 409: "error" },
    idempotent: true,
    create: {
      run: (tx, { caller, body }) => signingKeys.rotate(tx, caller, body.overlap_seconds),
      answer: (result) => (result.outcome === "rotated" ? ok(viewKey(result.key)) : refusedWith(tooManyKeys(result))),
    },
  });
  return routes;
}

const viewKey = (key: SigningKey) => ({ ...viewValue(key), public_key: key.publicKey });
