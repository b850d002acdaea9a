import type { Caller } from "@signalbox/auth";
import { AppError, type Clock, KiB, MiB, seconds } from "@signalbox/core";
import type { Complete } from "@signalbox/service";
import { GroupCommit, inTransaction } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import { checkEvents } from "../event-types/event-checks.ts";
import { type CustomEvent, customEventOf, digestOf } from "../events/custom-event.ts";
import { digestsOf, forgetPublished, notePublished } from "../events/event-store.ts";
import { type OutgoingEvent, type PublishedId, publishedKey } from "../events/outgoing-event.ts";
import type { Publication, Published, PublishOutcome } from "../events/publication.ts";
import { fanOut, fanOutAtOnce } from "./fan-out.ts";

/** The policy that limits the events of an account, also by the name that the route gives it. */
export const publishedEvents = "published-events";

/** A transaction takes 128 events at most, fewer where they are large. */
const batchBytesMax = 1 * MiB;
const countedBytesMin = 8 * KiB;
const batchesMax = 4;
/** Bytes that may wait: the bodies are in memory. */
const waitingBytesMax = 64 * MiB;
const waitMs = seconds(5);

/** Publishes an account's own events, all or none. One that was published with the same content before is skipped. */
export async function publishEvents(
  service: DeliveryService,
  caller: Caller,
  given: readonly CustomEvent[],
  complete?: Complete<PublishOutcome>,
): Promise<PublishOutcome> {
  const { publications, clock, tracer } = service;
  const { accountId } = caller;
  countOthers(service, accountId, given.length - 1);
  const checked = await checkEvents(service, accountId, given);
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
  return publications.add({ caller, events, ids: [...ids.values()], warnings: checked.warnings, complete });
}

/** The edge has counted the request as one event. */
function countOthers({ publishLimiter }: DeliveryService, accountId: string, others: number): void {
  if (others === 0) return;
  const { allowed, resetSeconds } = publishLimiter.take(accountId, others);
  if (allowed) return;
  const message = "The account has published too many events. Try again later.";
  throw new AppError("rate_limited", message, { retryAfterSeconds: resetSeconds });
}

/** Joins the publications of requests that meet; `write` is `publishTogether`. */
export const joinPublications = (
  clock: Clock,
  write: (batch: readonly Publication[]) => Promise<readonly (PublishOutcome | Promise<PublishOutcome>)[]>,
): DeliveryService["publications"] =>
  new GroupCommit({
    write,
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

/** Publishes what several requests bring with one commit, where possible with one statement. */
export async function publishTogether(
  service: DeliveryService,
  batch: readonly Publication[],
): Promise<readonly (PublishOutcome | Promise<PublishOutcome>)[]> {
  const { publicationCounts } = service;
  const ids = batch.flatMap((publication) => publication.ids);
  const events = batch.flatMap((publication) => publication.events);
  const isPlain = batch.every(({ events: { length }, complete }) => length === 1 && complete === undefined);
  const stored = isPlain ? await fanOutAtOnce(service, events, ids) : null;
  if (stored === null) return publishInTransaction(service, batch);
  const fresh = new Set(stored);
  const isNew = (publication: Publication) => publication.events.every((event) => fresh.has(event));
  const { accepted = [], repeated = [] } = Object.groupBy(batch, (one) => (isNew(one) ? "accepted" : "repeated"));
  for (const { caller } of accepted) publicationCounts.count(caller, 1);
  const again = repeated.length === 0 ? Promise.resolve([]) : publishInTransaction(service, repeated);
  return batch.map((publication) =>
    isNew(publication)
      ? { outcome: "published", published: publishedOf(publication, fresh) }
      : again.then((outcomes) => outcomes[repeated.indexOf(publication)] as PublishOutcome),
  );
}

async function publishInTransaction(service: DeliveryService, batch: readonly Publication[]) {
  return inTransaction(service.pool, async (tx) => {
    const ids = batch.flatMap((publication) => publication.ids);
    const fresh = await notePublished(tx, ids);
    const repeated = ids.filter((id) => !fresh.has(publishedKey(id)));
    const known = await digestsOf(tx, repeated);
    const conflicts = batch.map((publication) => conflictIn(publication, known));
    const refused = batch.filter((_, at) => (conflicts[at] ?? -1) >= 0).flatMap((publication) => publication.ids);
    const unused = refused.filter((id) => fresh.has(publishedKey(id)));
    await forgetPublished(tx, unused);
    const accepted = batch.map((publication, at) =>
      (conflicts[at] ?? -1) < 0 ? newEventsOf(publication, fresh) : null,
    );
    const events = accepted.flatMap((ofRequest) => [...(ofRequest ?? [])]);
    await fanOut(service, tx, events, events);
    const outcomes: PublishOutcome[] = [];
    for (const [at, publication] of batch.entries()) {
      const isNew = accepted[at];
      if (!isNew) outcomes.push({ outcome: "conflict", index: conflicts[at] ?? 0 });
      else {
        const outcome = { outcome: "published", published: publishedOf(publication, isNew) } as const;
        outcomes.push(outcome);
        tx.afterCommit(() => service.publicationCounts.count(publication.caller, isNew.size));
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
