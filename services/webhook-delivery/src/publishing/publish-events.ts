import type { Caller } from "@signalbox/auth";
import type { RateLimiter } from "@signalbox/cache";
import { AppError, type Clock, KiB, MiB, seconds } from "@signalbox/core";
import type { Complete } from "@signalbox/service";
import { GroupCommit, inTransaction, type Pool } from "@signalbox/storage";
import type { Tracer } from "@signalbox/telemetry";
import type { CheckOutcome, EventChecks } from "../event-types/event-checks.ts";
import type { Misfit } from "../event-types/schema-check.ts";
import { type CustomEvent, customEventOf, digestOf } from "../events/custom-event.ts";
import type { EventStore } from "../events/event-store.ts";
import { type OutgoingEvent, type PublishedId, publishedKey } from "../events/outgoing-event.ts";
import type { PublicationCounts } from "../events/publication-counts.ts";
import type { FanOut } from "./fan-out.ts";

interface EventDependencies {
  readonly pool: Pool;
  readonly eventStore: Pick<EventStore, "notePublished" | "digestsOf" | "forgetPublished">;
  readonly eventChecks: EventChecks;
  readonly fanOut: FanOut;
  readonly publicationCounts: Pick<PublicationCounts, "count">;
  /** Counts the events of each account. */
  readonly limiter: Pick<RateLimiter, "take">;
  readonly clock: Clock;
  readonly tracer: Tracer;
}

interface Published {
  readonly id: string;
  readonly type: string;
  /** True for a repetition, which is not delivered a second time. */
  readonly duplicate: boolean;
  /** Mismatches with the schema of a type that only warns: JSON Pointers with the reason. */
  readonly warnings: readonly Misfit[];
}

export type PublishOutcome =
  | { readonly outcome: "published"; readonly published: readonly Published[] }
  /** A different event was published under this id, before or in the same request. */
  | { readonly outcome: "conflict"; readonly index: number }
  | Extract<CheckOutcome, { readonly outcome: "misfit" }>;

export type Unpublished = Exclude<PublishOutcome, { readonly outcome: "published" }>;

/** The events of one request. */
interface Publication {
  readonly caller: Caller;
  readonly events: readonly OutgoingEvent[];
  /** The ids that the publisher chose, each once. */
  readonly ids: readonly PublishedId[];
  /** For each event its mismatch with a schema that only warns, or null. */
  readonly warnings: readonly (Misfit | null)[];
  /** Absent for a request without an `Idempotency-Key`. */
  readonly complete: Complete<PublishOutcome> | undefined;
}

/** The policy that limits the events of an account, also by the name that the route gives it. */
export const publishedEvents = "published-events";

/** A transaction takes 128 events at most, fewer where they are large. */
const batchBytesMax = 1 * MiB;
const countedBytesMin = 8 * KiB;
const batchesMax = 4;
/** Bytes that may wait: the bodies are in memory. */
const waitingBytesMax = 64 * MiB;
const waitMs = seconds(5);

export type PublishEvents = ReturnType<typeof createPublishEvents>;

/** Creates the operation that publishes an account's own events. Requests that meet share a transaction. */
export function createPublishEvents(dependencies: EventDependencies) {
  const { eventChecks, limiter, clock, tracer } = dependencies;
  const group = new GroupCommit<Publication, PublishOutcome | Promise<PublishOutcome>>({
    write: (batch) => publishTogether(dependencies, batch),
    clock,
    sizeMax: batchBytesMax,
    sizeOf: ({ events }) => sum(events.map(({ body }) => Math.max(body.length, countedBytesMin))),
    ownerOf: ({ caller }) => caller.accountId,
    // Of two requests with one id the second has to find the first.
    keysOf: ({ ids }) => ids.map(publishedKey),
    waitingMax: waitingBytesMax,
    waitMs,
    batchesMax,
  });

  /** The edge has counted the request as one event. */
  function countOthers(accountId: string, others: number): void {
    if (others === 0) return;
    const { allowed, resetSeconds } = limiter.take(accountId, others);
    if (allowed) return;
    const message = "The account has published too many events. Try again later.";
    throw new AppError("rate_limited", message, { retryAfterSeconds: resetSeconds });
  }

  /**
   * Stores the events with their deliveries, all or none. An event that was published before with the same content is
   * skipped.
   */
  return async (
    caller: Caller,
    given: readonly CustomEvent[],
    complete?: Complete<PublishOutcome>,
  ): Promise<PublishOutcome> => {
    const { accountId } = caller;
    countOthers(accountId, given.length - 1);
    const checked = await eventChecks.check(accountId, given);
    if (checked.outcome === "misfit") return checked;
    const at = clock.now();
    const ids = new Map<string, PublishedId>();
    for (const [index, event] of given.entries()) {
      if (event.id === undefined) continue;
      const digest = digestOf(event);
      if (!(ids.get(event.id)?.digest ?? digest).equals(digest)) return { outcome: "conflict", index };
      ids.set(event.id, { accountId, id: event.id, digest, at });
    }
    const traceparent = tracer.traceparent();
    const events = given.map((event) => customEventOf(event, accountId, at, traceparent));
    return group.add({ caller, events, ids: [...ids.values()], warnings: checked.warnings, complete });
  };
}

/**
 * Publishes what several requests bring with one commit. A single event without an answer to store is refused or stored
 * by itself: where there are no others, one statement does, and a repeated id is looked up in a transaction.
 */
async function publishTogether(
  dependencies: EventDependencies,
  batch: readonly Publication[],
): Promise<readonly (PublishOutcome | Promise<PublishOutcome>)[]> {
  const { pool, fanOut, publicationCounts } = dependencies;
  const ids = batch.flatMap((publication) => publication.ids);
  const events = batch.flatMap((publication) => publication.events);
  const isPlain = batch.every(({ events: { length }, complete }) => length === 1 && complete === undefined);
  const stored = isPlain ? await fanOut.deliverAtOnce(pool, events, ids) : null;
  if (stored === null) return publishInTransaction(dependencies, batch);
  const fresh = new Set(stored);
  const isNew = (publication: Publication) => publication.events.every((event) => fresh.has(event));
  const { accepted = [], repeated = [] } = Object.groupBy(batch, (one) => (isNew(one) ? "accepted" : "repeated"));
  for (const { caller } of accepted) publicationCounts.count(caller, 1);
  const again = repeated.length === 0 ? Promise.resolve([]) : publishInTransaction(dependencies, repeated);
  return batch.map((publication) =>
    isNew(publication)
      ? { outcome: "published", published: publishedOf(publication, fresh) }
      : again.then((outcomes) => outcomes[repeated.indexOf(publication)] as PublishOutcome),
  );
}

/** Publishes what several requests bring in one transaction. A request that is refused leaves nothing in it. */
async function publishInTransaction(
  { pool, eventStore, fanOut, publicationCounts }: EventDependencies,
  batch: readonly Publication[],
): Promise<PublishOutcome[]> {
  return inTransaction(pool, async (tx) => {
    const ids = batch.flatMap((publication) => publication.ids);
    const fresh = await eventStore.notePublished(tx, ids);
    const known = await eventStore.digestsOf(
      tx,
      ids.filter((id) => !fresh.has(publishedKey(id))),
    );
    const conflicts = batch.map((publication) => conflictIn(publication, known));
    const refused = batch.filter((_, at) => (conflicts[at] ?? -1) >= 0).flatMap((publication) => publication.ids);
    await eventStore.forgetPublished(
      tx,
      refused.filter((id) => fresh.has(publishedKey(id))),
    );
    const accepted = batch.map((publication, at) =>
      (conflicts[at] ?? -1) < 0 ? newEventsOf(publication, fresh) : null,
    );
    const events = accepted.flatMap((ofRequest) => [...(ofRequest ?? [])]);
    await fanOut.deliver(tx, events, events);
    const outcomes: PublishOutcome[] = [];
    for (const [at, publication] of batch.entries()) {
      const isNew = accepted[at];
      if (!isNew) outcomes.push({ outcome: "conflict", index: conflicts[at] ?? 0 });
      else {
        const outcome = { outcome: "published", published: publishedOf(publication, isNew) } as const;
        outcomes.push(outcome);
        tx.afterCommit(() => publicationCounts.count(publication.caller, isNew.size));
        await publication.complete?.(tx, outcome);
      }
    }
    return outcomes;
  });
}

/** Returns the index of the first event whose id belongs to a different one; -1 without any. */
function conflictIn({ events, ids }: Publication, known: ReadonlyMap<string, Buffer>): number {
  const other = ids.find((id) => !(known.get(publishedKey(id)) ?? id.digest).equals(id.digest));
  return other ? events.findIndex(({ id }) => id === other.id) : -1;
}

/** Returns the events that were not published before, and of those with one id the first. */
function newEventsOf({ events, ids }: Publication, fresh: ReadonlySet<string>): ReadonlySet<OutgoingEvent> {
  const left = new Map(ids.map((id) => [id.id, fresh.has(publishedKey(id))]));
  const isNew = ({ id }: OutgoingEvent): boolean => {
    const first = left.get(id) ?? true;
    left.set(id, false);
    return first;
  };
  return new Set(events.filter(isNew));
}

const publishedOf = ({ events, warnings }: Publication, isNew: ReadonlySet<OutgoingEvent>): Published[] =>
  events.map((event, index) => ({
    id: event.id,
    type: event.type,
    duplicate: !isNew.has(event),
    warnings: [warnings[index] ?? []].flat(),
  }));

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
