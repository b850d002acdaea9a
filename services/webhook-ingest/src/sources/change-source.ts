import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import { assertSettingsFit, assertUsableSecret } from "./secret-rules.ts";
import { changedFields, type Source, type SourceChange } from "./source.ts";
import { sourceUpdated } from "./source-events.ts";
import { mergeSettings } from "./source-settings.ts";
import type { SourceStore } from "./source-store.ts";

export interface ChangeSource {
  readonly accountId: string;
  readonly id: string;
  readonly change: SourceChange;
  /** A new secret; the old one stops at once. */
  readonly secret?: string | undefined;
}

interface Dependencies {
  readonly pool: Pool;
  readonly sources: SourceStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** Changes a source. Null when the account has none of that id. A change that alters nothing emits nothing. */
export function createChangeSource({ pool, sources, outbox, clock }: Dependencies) {
  return function changeSource(
    { accountId, id, change, secret }: ChangeSource,
    assertUnchanged: (source: Source) => void,
    within: (tx: Tx, source: Source) => Promise<void>,
  ): Promise<Source | null> {
    return inTransaction(pool, async (tx) => {
      const source = await sources.lock(tx, accountId, id);
      if (source === null) return null;
      assertUnchanged(source);
      const { settings = {}, ...fields } = change;
      const wanted = { ...source, ...definedOf(fields), settings: mergeSettings(source.settings, settings) };
      const changed = changedFields(source, wanted);
      if (secret !== undefined) changed.push("secret");
      if (changed.length === 0) {
        await within(tx, source);
        return source;
      }
      const next: Source = { ...wanted, revision: source.revision + 1, updatedAt: clock.now() };
      assertSettingsFit(next.scheme, next.settings);
      if (secret !== undefined) assertUsableSecret(next.scheme, next.settings, secret);
      await sources.update(tx, next, secret);
      await outbox.append(tx, [sourceUpdated(next, changed)]);
      await within(tx, next);
      return next;
    });
  };
}

/** An absent member of a merge patch leaves the field as it is; spreading an undefined over it would not. */
function definedOf(change: Omit<SourceChange, "settings">): Partial<Source> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}
