import { type Clock, hours } from "@signalbox/core";
import type { Queryable } from "@signalbox/storage";
import { flagRevisions } from "../flags/flag-store.ts";
import { newestRevision, overrideRevisions } from "../overrides/override-store.ts";

/** The state topic's content by name, each entry with the revision that last changed it. */
export interface Known {
  readonly changes: Readonly<Record<string, { readonly revision: number }>>;
  readonly flags: readonly { readonly key: string; readonly revision: number }[];
}

/** One revision found on the topic. */
export interface FoundRevision {
  readonly revision: number;
  readonly names: string[];
  readonly flags: string[];
}

/** Largest gap that is waited for: a missing revision may never arrive (its record may be of another version). */
const gapMax = 1_000;

/**
 * Finds new revisions on the topic, and the one up to which none is missing: records of two properties may arrive in
 * another order than their revisions, and an id must not promise unsent ones.
 */
export class SentRevisions {
  readonly #names = new Map<string, number>();
  readonly #ahead = new Set<number>();
  #complete: number;

  constructor(known: Known, revision: number) {
    this.#complete = revision;
    for (const [name, found] of entriesOf(known)) this.#names.set(name, found);
  }

  /** The revision up to which everything was sent. */
  get complete(): number {
    return this.#complete;
  }

  /** Compares with the current content; returns the unsent revisions, oldest first. */
  take(known: Known): FoundRevision[] {
    const found = new Map<number, FoundRevision>();
    for (const [name, revision] of entriesOf(known)) {
      if (revision <= (this.#names.get(name) ?? 0)) continue;
      this.#names.set(name, revision);
      const each = found.get(revision) ?? { revision, names: [], flags: [] };
      found.set(revision, each);
      if (name.startsWith(flagPrefix)) each.flags.push(name.slice(flagPrefix.length));
      else each.names.push(name);
    }
    return [...found.values()].sort((a, b) => a.revision - b.revision);
  }

  /** Marks a revision as sent and returns the id for its events. */
  markSent(revision: number): number {
    this.#ahead.add(revision);
    while (this.#ahead.delete(this.#complete + 1)) this.#complete++;
    if (this.#ahead.size > gapMax) {
      this.#complete = Math.max(...this.#ahead);
      this.#ahead.clear();
    }
    for (const ahead of this.#ahead) if (ahead <= this.#complete) this.#ahead.delete(ahead);
    return this.#complete;
  }
}

const flagPrefix = "flag:";

function* entriesOf({ changes, flags }: Known): Generator<readonly [string, number]> {
  for (const [name, { revision }] of Object.entries(changes)) yield [name, revision];
  for (const { key, revision } of flags) yield [`${flagPrefix}${key}`, revision];
}

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
  const firsts = await Promise.all([overrideRevisions, flagRevisions].map((history) => history.firstSince(db, since)));
  if (Math.min(...firsts.map((revision) => Number(revision ?? Number.POSITIVE_INFINITY))) > last + 1) {
    yield null;
    return;
  }
  for (let after = last; after < upTo; ) {
    const [properties, flags] = await Promise.all([
      overrideRevisions.since(db, BigInt(after), pageSize),
      flagRevisions.since(db, BigInt(after), pageSize),
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
