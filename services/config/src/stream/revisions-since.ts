import { type Clock, hours } from "@signalbox/core";
import type { Queryable } from "@signalbox/storage";
import { firstFlagRevisionSince, listFlagChanges } from "../flags/flag-store.ts";
import { firstRevisionSince, listChanges, newestRevision } from "../overrides/override-store.ts";
import type { FoundRevision } from "./sent-revisions.ts";

/** Longest absence after which a client still gets each missed revision. */
const keptMs = hours(24 * 30);
const pageSize = 500;

/**
 * Reads the revisions after `last` up to `upTo`, page by page; null when some of them are older than the kept history,
 * or when `last` was never assigned. Another instance may have sent more than this one knows.
 */
export async function* revisionsSince(
  db: Queryable,
  clock: Clock,
  last: number,
  upTo: number,
): AsyncGenerator<FoundRevision | null> {
  if (last > upTo && BigInt(last) > (await newestRevision(db))) yield null;
  if (last >= upTo) return;
  const since = new Date(clock.nowMs() - keptMs);
  const firsts = await Promise.all([firstRevisionSince(db, since), firstFlagRevisionSince(db, since)]);
  const first = Math.min(
    ...firsts.map((revision) => (revision === null ? Number.POSITIVE_INFINITY : Number(revision))),
  );
  if (first > last + 1) {
    yield null;
    return;
  }
  for (let after = last; after < upTo; ) {
    const [properties, flags] = await Promise.all([
      listChanges(db, BigInt(after), pageSize),
      listFlagChanges(db, BigInt(after), pageSize),
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
