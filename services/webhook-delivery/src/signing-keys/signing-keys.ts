import type { Caller } from "@signalbox/auth";
import { type Clock, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { createSigningKey } from "@signalbox/webhook-signatures";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import type { SigningKey, SigningKeyStore } from "./signing-key-store.ts";

interface SigningKeyDependencies {
  readonly signingKeyStore: SigningKeyStore;
  readonly endpointStore: Pick<EndpointStore, "touchAll">;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly rotationOverlapMs: () => number;
}

/** Every one of them costs a signature in every `v1a` delivery. */
const liveKeysMax = 5;

export type RotatedKey =
  | { readonly outcome: "rotated"; readonly key: SigningKey }
  | { readonly outcome: "limit-reached"; readonly max: number };

export type SigningKeys = ReturnType<typeof createSigningKeys>;

/** The Ed25519 keys of an account: deliveries with `v1a` are signed with them, and anybody may read their public halves. */
export function createSigningKeys(dependencies: SigningKeyDependencies) {
  const { signingKeyStore, endpointStore, outbox, clock, rotationOverlapMs } = dependencies;
  return {
    /** Makes the first key of the account, unless it has one. */
    async ensure(tx: Tx, accountId: string): Promise<void> {
      const at = clock.now();
      if ((await signingKeyStore.lockAllOf(tx, accountId, at)).length > 0) return;
      await signingKeyStore.insert(tx, accountId, createSigningKey(), at, at);
    },

    /** Adds a key; those before it sign as well until the overlap ends, so that receivers can learn the new one. */
    async rotate(tx: Tx, caller: Caller, overlapSeconds?: number): Promise<RotatedKey> {
      const { accountId } = caller;
      const at = clock.now();
      const overlapMs = overlapSeconds === undefined ? rotationOverlapMs() : seconds(overlapSeconds);
      const live = await signingKeyStore.lockAllOf(tx, accountId, at);
      if (live.length >= liveKeysMax) return { outcome: "limit-reached", max: liveKeysMax };
      const until = new Date(at.getTime() + overlapMs);
      const key = await signingKeyStore.insert(tx, accountId, createSigningKey(), at, until);
      await endpointStore.touchAll(tx, accountId);
      await outbox.append(tx, [audited(caller, { action: "webhook_signing_key.rotate", subject: key.id })]);
      return { outcome: "rotated", key };
    },
  };
}
