import type { Caller } from "@signalbox/auth";
import { type Clock, randomId, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import { rotate, type Tx } from "@signalbox/storage";
import type { KnownSources } from "./known-sources.ts";
import { addressesOf, type Source, sourceUpdated } from "./source.ts";
import type { SourceStore } from "./source-store.ts";

interface AddressDependencies {
  readonly sourceStore: SourceStore;
  readonly knownSources: Pick<KnownSources, "forget">;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** Largest number of live addresses: the current one and two former ones. */
const addressesMax = 3;

export type SourceAddresses = ReturnType<typeof createSourceAddresses>;

/** Creates the operation that rotates the address that a partner posts to. */
export function createSourceAddresses({ sourceStore, knownSources, outbox, clock }: AddressDependencies) {
  return {
    /** Gives a source a new address, for one that has leaked. The present one is accepted for the overlap. */
    async rotate(tx: Tx, caller: Caller, source: Source, overlapSeconds: number) {
      const now = clock.now();
      const rotation = rotate(addressesOf(source), { max: addressesMax, overlapMs: seconds(overlapSeconds), now });
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
      tx.afterCommit(() => knownSources.forget(source.id));
      const change = { action: "webhook_source.rotate_url", subject: source.id, fields: ["ingest_path"] } as const;
      await outbox.append(tx, [sourceUpdated(rotated, ["ingest_path"]), audited(caller, change)]);
      return { outcome: "rotated", source: rotated } as const;
    },
  };
}
