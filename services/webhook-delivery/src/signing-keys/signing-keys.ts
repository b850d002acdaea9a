import type { Caller } from "@signalbox/auth";
import { type Clock, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import { rotate, type Tx } from "@signalbox/storage";
import { createSigningKey } from "@signalbox/webhook-signatures";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import type { SigningKeyStore } from "./signing-key-store.ts";

interface SigningKeyDependencies {
  readonly signingKeyStore: SigningKeyStore;
  readonly endpointStore: Pick<EndpointStore, "touchAll">;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly rotationOverlapMs: () => number;
}

/** Every live key adds a signature to every `v1a` delivery. */
const liveKeysMax = 5;

export type SigningKeys = ReturnType<typeof createSigningKeys>;

/**
 * Creates the operations on an account's Ed25519 keys, which sign its `v1a` deliveries. Their public keys are open to
 * all.
 */
export function createSigningKeys(dependencies: SigningKeyDependencies) {
  const { signingKeyStore, endpointStore, outbox, clock, rotationOverlapMs } = dependencies;
  return {
    /** Creates the first key of the account, unless it has one. */
    async ensure(tx: Tx, accountId: string): Promise<void> {
      const at = clock.now();
      if ((await signingKeyStore.lockAllOf(tx, accountId, at)).length > 0) return;
      await signingKeyStore.insert(tx, accountId, createSigningKey(), at);
    },

    /**
     * Adds a key. The previous ones sign beside it until their overlaps end, so that receivers can fetch the new one.
     */
    async rotate(tx: Tx, caller: Caller, overlapSeconds?: number) {
      const { accountId } = caller;
      const at = clock.now();
      const overlapMs = overlapSeconds === undefined ? rotationOverlapMs() : seconds(overlapSeconds);
      const live = await signingKeyStore.lockAllOf(tx, accountId, at);
      const rotation = rotate(live, { max: liveKeysMax, overlapMs, now: at });
      if (rotation.outcome !== "rotated") return rotation;
      const key = await signingKeyStore.insert(tx, accountId, createSigningKey(), at, rotation.older);
      await endpointStore.touchAll(tx, accountId);
      await outbox.append(tx, [audited(caller, { action: "webhook_signing_key.rotate", subject: key.id })]);
      return { outcome: "rotated", key } as const;
    },
  };
}
