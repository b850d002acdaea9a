import { type Clock, hours } from "@signalbox/core";
import type { FlagStore } from "../flags/flag-store.ts";
import type { OverrideStore } from "../overrides/override-store.ts";
import type { FoundRevision } from "./sent-revisions.ts";

interface Dependencies {
  readonly overrideStore: Pick<OverrideStore, "listSince" | "firstSince" | "newest">;
  readonly flagStore: Pick<FlagStore, "listSince" | "firstSince">;
  readonly clock: Clock;
}

/** Longest absence after which a client still gets each missed revision. */
const keptMs = hours(24 * 30);
const pageSize = 500;

/**
 * Reads the revisions after `last` up to `upTo`, page by page; null when some of them are older than the kept history,
 * or when `last` was never assigned. Another instance may have sent more than this one knows.
 */
export async function* revisionsSince(
  last: number,
  upTo: number,
  { overrideStore, flagStore, clock }: Dependencies,
): AsyncGenerator<FoundRevision | null> {
  if (last > upTo && BigInt(last) > (await overrideStore.newest())) yield null;
  if (last >= upTo) return;
  const since = new Date(clock.nowMs() - keptMs);
  const firsts = await Promise.all([overrideStore.firstSince(since), flagStore.firstSince(since)]);
  const first = Math.min(
    ...firsts.map((revision) => (revision === null ? Number.POSITIVE_INFINITY : Number(revision))),
  );
  if (first > last + 1) {
    yield null;
    return;
  }
  for (let after = last; after < upTo; ) {
    const [properties, flags] = await Promise.all([
      overrideStore.listSince(BigInt(after), pageSize),
      flagStore.listSince(BigInt(after), pageSize),
    ]);
    // A full page may cut its last revision; the next page starts with it.
    const whole = [properties, flags].map((page) =>
      page.length < pageSize ? upTo : Number(page.at(-1)?.revision) - 1,
    );
    const through = Math.min(upTo, ...whole);
    const found = new Map<number, FoundRevision>();
    const at = (revision: bigint) => {
      const each = found.get(Number(revision)) ?? { revision: Number(revision), names: [], flags: [] };
      found.set(each.revision, each);
      return each;
    };
    for (const { revision, name } of properties) at(revision).names.push(name);
    for (const { revision, key } of flags) at(revision).flags.push(key);
    const revisions = [...found.values()].filter(({ revision }) => revision <= through);
    yield* revisions.sort((a, b) => a.revision - b.revision);
    if (through <= after) return;
    after = through;
  }
}
