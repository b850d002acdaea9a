import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Source } from "./source.ts";
import { sourceDeleted } from "./source-events.ts";
import type { SourceStore } from "./source-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly sources: SourceStore;
  readonly outbox: Outbox;
}

/** Removes a source with what it received. False when the account has none of that id. */
export function createDeleteSource({ pool, sources, outbox }: Dependencies) {
  return function deleteSource(
    accountId: string,
    id: string,
    assertUnchanged: (source: Source) => void,
    within: (tx: Tx) => Promise<void>,
  ): Promise<boolean> {
    return inTransaction(pool, async (tx) => {
      const source = await sources.lock(tx, accountId, id);
      if (source === null) return false;
      assertUnchanged(source);
      await sources.delete(tx, id);
      await outbox.append(tx, [sourceDeleted(source)]);
      await within(tx);
      return true;
    });
  };
}

/** Removes every source of a purged account, in the transaction of the consumer that heard of it. */
export function createDeleteSourcesOfAccount({ sources, outbox }: Omit<Dependencies, "pool">) {
  return async function deleteSourcesOfAccount(tx: Tx, accountId: string): Promise<void> {
    const owned = await sources.lockAllOf(tx, accountId);
    for (const source of owned) await sources.delete(tx, source.id);
    if (owned.length > 0) await outbox.append(tx, owned.map(sourceDeleted));
  };
}
