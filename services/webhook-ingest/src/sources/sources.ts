import { type Caller, requireStepUp } from "@signalbox/auth";
import { type Clock, changedMembers, patched } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { AssertUsable } from "./assert-usable.ts";
import {
  isShort,
  type NewSource,
  newSecret,
  type Source,
  type SourceChange,
  sourceCreated,
  sourceDeleted,
  sourceFieldNames,
  sourceFrom,
  sourceUpdated,
} from "./source.ts";
import type { SourceCache } from "./source-cache.ts";
import { mergeSettings } from "./source-settings.ts";
import type { SourceSecrets, SourceStore } from "./source-store.ts";

interface SourceDependencies {
  readonly sourceStore: SourceStore;
  readonly knownSources: Pick<SourceCache, "forget">;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly assertUsable: AssertUsable;
  /** Largest number of sources of one account. */
  readonly sourcesMax: () => number;
  /** Returns true when this deployment accepts partners' webhooks. */
  readonly areIntegrationsEnabled: () => boolean;
}

export type Sources = ReturnType<typeof createSources>;

/** Creates the operations on the sources of an account: create, update, delete. */
export function createSources(dependencies: SourceDependencies) {
  const { sourceStore, knownSources, outbox, clock, sourcesMax, areIntegrationsEnabled, assertUsable } = dependencies;
  return {
    /**
     * Creates a source.
     * @throws AppError `validation_error` for a secret or settings that do not fit the scheme
     */
    async create(tx: Tx, caller: Caller, wanted: NewSource) {
      const { secret, verifyToken } = wanted;
      const { accountId } = caller;
      if (!areIntegrationsEnabled()) return { outcome: "switched-off" } as const;
      assertUsable(wanted.scheme, wanted.settings, secret);
      const max = sourcesMax();
      if ((await sourceStore.lockCount(tx, accountId)) >= max) return { outcome: "limit-reached", max } as const;
      const source = sourceFrom(wanted, accountId, clock.now());
      await sourceStore.insert(tx, source, { current: secret, former: [], verifyToken });
      const entry = audited(caller, { action: "webhook_source.create", subject: source.id });
      await outbox.append(tx, [sourceCreated(source), entry]);
      return { outcome: "created", source } as const;
    },

    /**
     * Updates a source. A new secret, which replaces the old one at once, needs a step-up, because it allows forged
     * webhooks. A change that alters nothing writes nothing.
     */
    async update(
      tx: Tx,
      caller: Caller,
      source: Source,
      { secret, verifyToken, settings = {}, ...fields }: SourceChange,
    ): Promise<Source> {
      const wanted = { ...patched(source, fields), settings: mergeSettings(source.settings, settings) };
      const proofs = proofsIn({ secret, verifyToken });
      const changed = [...changedMembers(source, wanted, sourceFieldNames), ...proofs];
      if (changed.length === 0) return source;
      if (proofs.length > 0) requireStepUp(caller, clock);
      const former = await formerSecrets(tx, sourceStore, source, { secret, verifyToken, settings });
      const current = secret ?? former?.current;
      assertUsable(wanted.scheme, wanted.settings, current);
      const isSecretShort = current === undefined ? source.isSecretShort : isShort(wanted, current);
      const updated = { ...wanted, isSecretShort, revision: source.revision + 1, updatedAt: clock.now() };
      const replaced = secret === undefined ? updated : { ...updated, secrets: [newSecret(updated.updatedAt)] };
      await sourceStore.save(tx, replaced, former && secretsAfter(former, { secret, verifyToken }));
      tx.afterCommit(() => knownSources.forget(source.id));
      const entry = audited(caller, { action: "webhook_source.update", subject: source.id, fields: changed });
      await outbox.append(tx, [sourceUpdated(replaced, changed), entry]);
      return replaced;
    },

    /** Deletes a source with what it received. */
    async delete(tx: Tx, caller: Caller, source: Source): Promise<void> {
      await sourceStore.remove(tx, source.id);
      tx.afterCommit(() => knownSources.forget(source.id));
      const entry = audited(caller, { action: "webhook_source.delete", subject: source.id });
      await outbox.append(tx, [sourceDeleted(source), entry]);
    },

    /** Deletes every source of an account. */
    async deleteAllOf(tx: Tx, accountId: string): Promise<void> {
      const owned = await sourceStore.lockAllOf(tx, accountId);
      for (const { id } of owned) await sourceStore.remove(tx, id);
      await sourceStore.noteDeletedAccount(tx, accountId);
      if (owned.length > 0) await outbox.append(tx, owned.map(sourceDeleted));
    },
  };
}

type SecretChange = Pick<SourceChange, "secret" | "verifyToken">;

const proofsIn = ({ secret, verifyToken }: SecretChange): string[] => [
  ...(secret === undefined ? [] : ["secret"]),
  ...(verifyToken === undefined ? [] : ["verify_token"]),
];

/** Returns the present secrets when one of them, or its encoding, changes. */
async function formerSecrets(tx: Tx, sourceStore: SourceStore, { id }: Source, change: SourceChange) {
  const { secret, verifyToken, settings = {} } = change;
  const isRead = ["secretEncoding", "tokenFormat", "keyFormat", "acceptShortSecret"].some((name) => name in settings);
  if (secret === undefined && verifyToken === undefined && !isRead) return undefined;
  return (await sourceStore.findWithSecrets(id, tx))?.secrets;
}

/** Returns the secrets after a change. A new secret ends all former ones. */
const secretsAfter = (now: SourceSecrets, { secret, verifyToken }: SecretChange): SourceSecrets => ({
  current: secret ?? now.current,
  former: secret === undefined ? now.former : [],
  verifyToken: verifyToken === undefined ? now.verifyToken : verifyToken,
});
