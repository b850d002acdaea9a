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

/** The addresses that are taken at once: the one of today and two that were rotated out. */
const addressesMax = 3;

/** The source with a new address; the one before is taken until the overlap ends. Null when it has as many as it may. */
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

/** The addresses that partners post to. */
export function createSourceAddresses({ sourceStore, knownSources, outbox, clock }: AddressDependencies) {
  return {
    /** Gives a source another address, for one that got into wrong hands; what still comes to the old one is taken for a while. */
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
