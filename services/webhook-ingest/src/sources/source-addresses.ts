import type { Caller } from "@signalbox/auth";
import { type Clock, randomId, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { KnownSources } from "./known-sources.ts";
import { addressOf, type Source, sourceUpdated } from "./source.ts";
import type { SourceStore } from "./source-store.ts";

interface AddressDependencies {
  readonly sourceStore: SourceStore;
  readonly knownSources: Pick<KnownSources, "forget">;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** Largest number of live addresses: the current one and two former ones. */
const addressesMax = 3;

/**
 * Returns the source with a new address; the former one is accepted until the overlap ends. Returns null at the limit.
 */
function withNewAddress(source: Source, overlapSeconds: number, now: Date): Source | null {
  const live = source.formerAddresses.flatMap((address, index) => {
    const endsAt = source.formerAddressesEndAt[index];
    return endsAt !== undefined && endsAt > now ? [{ address, endsAt }] : [];
  });
  const endsAt = new Date(now.getTime() + seconds(overlapSeconds));
  const former = overlapSeconds === 0 ? live : [{ address: addressOf(source), endsAt }, ...live];
  if (former.length >= addressesMax) return null;
  return {
    ...source,
    address: randomId("ing"),
    formerAddresses: former.map(({ address }) => address),
    formerAddressesEndAt: former.map((one) => one.endsAt),
    revision: source.revision + 1,
    updatedAt: now,
  };
}

export type SourceAddresses = ReturnType<typeof createSourceAddresses>;

/** Creates the operation that rotates the address that a partner posts to. */
export function createSourceAddresses({ sourceStore, knownSources, outbox, clock }: AddressDependencies) {
  return {
    /** Gives a source a new address, for one that has leaked. The former address is accepted for the overlap. */
    async rotate(tx: Tx, caller: Caller, source: Source, overlapSeconds: number) {
      const rotated = withNewAddress(source, overlapSeconds, clock.now());
      if (rotated === null) return { outcome: "limit-reached", max: addressesMax } as const;
      await sourceStore.saveAddresses(tx, rotated);
      tx.afterCommit(() => knownSources.forget(source.id));
      const change = { action: "webhook_source.rotate_url", subject: source.id, fields: ["ingest_path"] } as const;
      await outbox.append(tx, [sourceUpdated(rotated, ["ingest_path"]), audited(caller, change)]);
      return { outcome: "rotated", source: rotated } as const;
    },
  };
}
