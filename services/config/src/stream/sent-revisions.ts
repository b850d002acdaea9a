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
  readonly names: readonly string[];
  readonly flags: readonly string[];
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
    const entries = [...entriesOf(known)].filter(([name, revision]) => revision > (this.#names.get(name) ?? 0));
    for (const [name, revision] of entries) this.#names.set(name, revision);
    return byRevision(entries);
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

/** The name of a property, or of a flag behind its prefix, with the revision that changed it. */
type Entry = readonly [name: string, revision: number];

function* entriesOf({ changes, flags }: Known): Generator<Entry> {
  for (const [name, { revision }] of Object.entries(changes)) yield [name, revision];
  for (const { key, revision } of flags) yield [`${flagPrefix}${key}`, revision];
}

/** Groups changes by their revisions, oldest first. */
function byRevision(entries: readonly Entry[]): FoundRevision[] {
  const found = [...Map.groupBy(entries, ([, revision]) => revision)].sort(([a], [b]) => a - b);
  return found.map(([revision, changed]) => {
    const all = changed.map(([name]) => name);
    const isFlag = (name: string) => name.startsWith(flagPrefix);
    const flags = all.filter(isFlag).map((name) => name.slice(flagPrefix.length));
    return { revision, names: all.filter((name) => !isFlag(name)), flags };
  });
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
    const entries = [
      ...properties.map(({ name, revision }) => [name, Number(revision)] as const),
      ...flags.map(({ key, revision }) => [`${flagPrefix}${key}`, Number(revision)] as const),
    ];
    yield* byRevision(entries.filter(([, revision]) => revision <= through));
    if (through <= after) return;
    after = through;
  }
}
