import { timeOfPublicId } from "@signalbox/core";
import { type Queryable, sql } from "@signalbox/storage";

/** A post that had no effect, because the webhook had been received. */
export interface Repetition {
  readonly sourceId: string;
  readonly receivedId: string;
  readonly at: Date;
  /** Null for one that came by no request, such as a retry of a rejection. */
  readonly requestId: string | null;
}

/** A sender in a loop has some of its requests found. */
const requestsOfWebhookMax = 20;

const count = sql(
  "repetition.count",
  `with given as (
     select * from unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::text[])
       as given (source_id, received_id, received_at, at, request_id)
   ), counted as (
     update received_deliveries as d set repeated = d.repeated + 1, last_repeated_at = greatest(d.last_repeated_at, given.at)
     from given where d.source_id = given.source_id and d.received_at = given.received_at and d.id = given.received_id
     returning d.id, d.repeated
   )
   insert into received_repetitions (request_id, source_id, received_id, repeated_at)
   select request_id, source_id, received_id, at from given join counted on counted.id = given.received_id
   where request_id is not null and counted.repeated <= ${requestsOfWebhookMax} on conflict do nothing`,
);
const findByRequest = sql(
  "repetition.find-request",
  `select source_id as "sourceId", received_id as "receivedId", repeated_at as at from received_repetitions
   where request_id = $1 and source_id in (select id from sources where account_id = $2) limit 20`,
);

/** Counts repetitions on their webhooks, of which each may be given once. Those past the retention are left out. */
export async function countRepetitions(db: Queryable, repetitions: readonly Repetition[]): Promise<void> {
  await db.query(count, [
    repetitions.map(({ sourceId }) => sourceId),
    repetitions.map(({ receivedId }) => receivedId),
    repetitions.map(({ receivedId }) => new Date(timeOfPublicId(receivedId) ?? 0)),
    repetitions.map(({ at }) => at),
    repetitions.map(({ requestId }) => requestId),
  ]);
}

export async function findRepetitions(db: Queryable, accountId: string, requestId: string) {
  return (await db.query<Omit<Repetition, "requestId">>(findByRequest, [requestId, accountId])).rows;
}
