import { type Clock, randomId } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import { assertSettingsFit, assertUsableSecret } from "./secret-rules.ts";
import type { Source } from "./source.ts";
import { sourceCreated } from "./source-events.ts";
import type { SourceStore } from "./source-store.ts";

export type CreateSource = Pick<Source, "accountId" | "name" | "scheme" | "eventTypes" | "forward" | "settings"> & {
  readonly secret: string;
};

interface Dependencies {
  readonly pool: Pool;
  readonly sources: SourceStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** Registers a partner. `within` runs in the same transaction, for the answer that an idempotency key keeps. */
export function createCreateSource({ pool, sources, outbox, clock }: Dependencies) {
  return async function createSource(
    { secret, ...input }: CreateSource,
    within: (tx: Tx, source: Source) => Promise<void>,
  ): Promise<Source> {
    assertSettingsFit(input.scheme, input.settings);
    assertUsableSecret(input.scheme, input.settings, secret);
    const now = clock.now();
    // Random, not sortable: the id stands in a public URL and should tell nothing.
    const source: Source = {
      ...input,
      id: randomId("src"),
      status: "enabled",
      revision: 1,
      createdAt: now,
      updatedAt: now,
    };
    await inTransaction(pool, async (tx) => {
      await sources.insert(tx, source, secret);
      await outbox.append(tx, [sourceCreated(source)]);
      await within(tx, source);
    });
    return source;
  };
}
