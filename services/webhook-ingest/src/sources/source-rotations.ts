import { type Caller, requireStepUp } from "@signalbox/auth";
import { type Clock, randomId, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import { rotate, type Tx } from "@signalbox/storage";
import type { KnownSources } from "./known-sources.ts";
import { addressesOf, type Source, sourceUpdated } from "./source.ts";
import type { AssertUsable } from "./source-settings.ts";
import type { SourceStore } from "./source-store.ts";

interface RotationDependencies {
  readonly sourceStore: SourceStore;
  readonly knownSources: Pick<KnownSources, "forget">;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly assertUsable: AssertUsable;
}

/** Largest number of live secrets, and of live addresses: the current one and two former ones. */
const max = 3;

const rotations = {
  rotate_secret: "secret",
  rotate_url: "ingest_path",
} as const;

export type SourceRotations = ReturnType<typeof createSourceRotations>;

/** Creates the operations that rotate the secret that a partner signs with, and the address that it posts to. */
export function createSourceRotations(dependencies: RotationDependencies) {
  const { sourceStore, knownSources, outbox, clock, assertUsable } = dependencies;

  async function announce(tx: Tx, caller: Caller, source: Source, action: keyof typeof rotations) {
    tx.afterCommit(() => knownSources.forget(source.id));
    const fields = [rotations[action]];
    const change = { action: `webhook_source.${action}`, subject: source.id, fields } as const;
    await outbox.append(tx, [sourceUpdated(source, fields), audited(caller, change)]);
    return { outcome: "rotated", source } as const;
  }

  return {
    /**
     * Gives a source its partner's next secret. The present one verifies until the overlap ends, so that no webhook is
     * lost while the partner changes over.
     * @throws AppError `validation_error` for a secret that does not fit the scheme
     */
    async rotateSecret(tx: Tx, caller: Caller, source: Source, secret: string, overlapSeconds: number) {
      requireStepUp(caller, clock);
      assertUsable(source.scheme, source.settings, secret);
      const found = await sourceStore.findWithSecrets(source.id, tx);
      const { current, former, verifyToken } = found?.secrets ?? { current: secret, former: [], verifyToken: null };
      const now = clock.now();
      const values = [{ secret: current, endsAt: null }, ...former];
      const rotation = rotate(values, { max, overlapMs: seconds(overlapSeconds), now });
      if (rotation.outcome !== "rotated") return rotation;
      const formerSecretsEndAt = rotation.older.flatMap(({ endsAt }) => endsAt ?? []);
      const rotated = { ...source, formerSecretsEndAt, revision: source.revision + 1, updatedAt: now };
      await sourceStore.save(tx, rotated, { current: secret, former: rotation.older, verifyToken });
      return announce(tx, caller, rotated, "rotate_secret");
    },

    /** Gives a source a new address, for one that has leaked. The present one is accepted until the overlap ends. */
    async rotateAddress(tx: Tx, caller: Caller, source: Source, overlapSeconds: number) {
      const now = clock.now();
      const rotation = rotate(addressesOf(source), { max, overlapMs: seconds(overlapSeconds), now });
      if (rotation.outcome !== "rotated") return rotation;
      const rotated: Source = {
        ...source,
        address: randomId("ing"),
        formerAddresses: rotation.older.map(({ address }) => address),
        formerAddressesEndAt: rotation.older.flatMap(({ endsAt }) => endsAt ?? []),
        revision: source.revision + 1,
        updatedAt: now,
      };
      await sourceStore.saveAddresses(tx, rotated);
      return announce(tx, caller, rotated, "rotate_url");
    },
  };
}
