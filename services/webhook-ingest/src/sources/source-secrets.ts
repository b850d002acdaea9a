import { type Caller, requireStepUp } from "@signalbox/auth";
import { type Clock, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import { rotate, type Tx } from "@signalbox/storage";
import type { KnownSources } from "./known-sources.ts";
import { type Source, sourceUpdated } from "./source.ts";
import type { AssertUsable } from "./source-settings.ts";
import type { SourceStore } from "./source-store.ts";

interface SecretDependencies {
  readonly sourceStore: SourceStore;
  readonly knownSources: Pick<KnownSources, "forget">;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly assertUsable: AssertUsable;
}

/** Largest number of live secrets: the current one and two former ones. */
const secretsMax = 3;

export interface SecretRotation {
  readonly secret: string;
  /** Time for which the present secret still verifies. */
  readonly overlapSeconds: number;
}

export type SourceSecretOperations = ReturnType<typeof createSourceSecrets>;

/** Creates the operation that rotates the secret that a partner signs with. */
export function createSourceSecrets(dependencies: SecretDependencies) {
  const { sourceStore, knownSources, outbox, clock, assertUsable } = dependencies;
  return {
    /**
     * Gives a source its partner's next secret. The present one verifies until the overlap ends, so that no webhook is
     * lost while the partner changes over.
     * @throws AppError `validation_error` for a secret that does not fit the scheme
     */
    async rotate(tx: Tx, caller: Caller, source: Source, { secret, overlapSeconds }: SecretRotation) {
      requireStepUp(caller, clock);
      assertUsable(source.scheme, source.settings, secret);
      const found = await sourceStore.findWithSecrets(source.id, tx);
      const { current, former, verifyToken } = found?.secrets ?? { current: secret, former: [], verifyToken: null };
      const now = clock.now();
      const values = [{ secret: current, endsAt: null }, ...former];
      const rotation = rotate(values, { max: secretsMax, overlapMs: seconds(overlapSeconds), now });
      if (rotation.outcome !== "rotated") return rotation;
      const rotated: Source = {
        ...source,
        formerSecretsEndAt: rotation.older.flatMap(({ endsAt }) => endsAt ?? []),
        revision: source.revision + 1,
        updatedAt: now,
      };
      await sourceStore.save(tx, rotated, { current: secret, former: rotation.older, verifyToken });
      tx.afterCommit(() => knownSources.forget(source.id));
      const change = { action: "webhook_source.rotate_secret", subject: source.id, fields: ["secret"] } as const;
      await outbox.append(tx, [sourceUpdated(rotated, ["secret"]), audited(caller, change)]);
      return { outcome: "rotated", source: rotated } as const;
    },
  };
}
