import { timeOfPublicId } from "@signalbox/core";
import {
  dayMs,
  type ListRange,
  newestFirst,
  ofEachParent,
  type Queryable,
  rangeValues,
  type Stretch,
  sql,
  startOfDay,
  stretchesBack,
  type TimePosition,
} from "@signalbox/storage";
import type { IngestService } from "../context/ingest-service.ts";
import type { ReceivedDelivery as Row } from "../generated/prisma/client.ts";
import { idKeyOf } from "./dedupe-keys.ts";
import type { Origin, ReceivedWebhook } from "./received-webhook.ts";

type ReplacedColumn = "isIdSigned" | "isTypeSigned" | "origin" | "headers" | "body" | "bodyDecoded";

export interface StoredWebhook extends Omit<Row, ReplacedColumn> {
  readonly deliveryIdSigned: boolean;
  readonly eventTypeSigned: boolean;
  readonly bodyBytes: number;
  readonly origin: Origin;
  /** Signatures and credentials masked. */
  readonly headers: ReceivedWebhook["headers"];
}

export interface StoredWebhookInFull extends StoredWebhook {
  readonly body: Buffer;
  /** True when the body is stored decoded, without the `Content-Encoding` that its headers name. */
  readonly bodyDecoded: boolean;
}

export interface ReceivedFilter {
  /** A name, or a prefix that ends in `*`. */
  readonly eventType?: string | undefined;
  readonly deliveryId?: string | undefined;
  readonly forwarded?: boolean | undefined;
  readonly origin?: Origin | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

const listed = `id, source_id as "sourceId", delivery_id as "deliveryId", is_id_signed as "deliveryIdSigned",
  event_type as "eventType", is_type_signed as "eventTypeSigned", content_type as "contentType",
  same_content_as as "sameContentAs", forwarded, octet_length(body) as "bodyBytes", received_at as "receivedAt",
  coalesce(origin, 'pushed') as origin, repeated, last_repeated_at as "lastRepeatedAt", headers`;
const inFull = `${listed}, body, body_decoded as "bodyDecoded"`;
// Unnamed, so that the plan knows the values and touches only the days in question.
const list = sql(
  "",
  ofEachParent(`select ${listed} from received_deliveries
   where source_id = parent.id and received_at >= $2 and received_at < $3
     and ($4::text is null or event_type = $4) and ($5::text is null or starts_with(event_type, $5))
     and ($6::text is null or delivery_id = $6) and ($7::bool is null or forwarded = $7)
     and ($8::text is null or coalesce(origin, 'pushed') = $8) and ${newestFirst(9, "received_at")}`),
);
const find = sql("", `select ${inFull} from received_deliveries where source_id = $1 and id = $2 and received_at = $3`);
const findByKey = sql(
  "received.find-by-key",
  "select received_id as id from received_keys where source_id = any($1) and digest = $2",
);

const chosen = `source_id = $1 and received_at >= $2 and received_at < $3 and (cardinality($4::text[]) = 0 or exists (
  select from unnest($4::text[]) as wanted where event_type = wanted
    or (right(wanted, 1) = '*' and starts_with(event_type, left(wanted, -1)))))`;
const count = sql(
  "",
  `select count(*)::int as count from (select from received_deliveries where ${chosen} limit $5) as few`,
);
const walk = sql(
  "",
  `select ${inFull} from received_deliveries
   where ${chosen} and (received_at, id) > ($5, $6) order by received_at, id limit $7`,
);
const findMany = sql(
  "",
  `select ${inFull} from received_deliveries
   where source_id = $1 and id = any($2) and received_at = any($3) order by received_at, id`,
);
const findOwn = sql(
  "",
  `select ${listed} from received_deliveries
   where source_id = any(select id from sources where account_id = $1) and id = any($2) and received_at = any($3)`,
);

/** Webhooks of a source between two times with one of the types; no type selects all. */
export interface ReceivedChoice extends Stretch {
  readonly sourceId: string;
  readonly eventTypes: readonly string[];
}

/** Returns the beginning of the first day of which webhooks are kept. */
export const keptSince = ({ configuration, clock }: IngestService): number =>
  startOfDay(clock.nowMs() - configuration.get("webhook-ingest.received.retention"));

/** Lists the same range of each source's received webhooks, newest first. */
export async function listReceived(
  service: IngestService,
  sourceIds: readonly string[],
  range: ListRange,
  filter: ReceivedFilter = {},
): Promise<StoredWebhook[]> {
  const { eventType, deliveryId = null, forwarded = null, origin = null, to } = filter;
  const [name, prefix] = eventType?.endsWith("*") ? [null, eventType.slice(0, -1)] : [eventType ?? null, null];
  const found = new Map(sourceIds.map((id): [string, StoredWebhook[]] => [id, []]));
  for await (const { fromMs, toMs } of stretchesOf(service, sourceIds, range, filter)) {
    const end = to ? Math.min(toMs, to.getTime()) : toMs;
    const unfilled = sourceIds.filter((id) => (found.get(id)?.length ?? 0) < range.limit);
    if (unfilled.length === 0) break;
    const given = [unfilled, new Date(fromMs), new Date(end), name, prefix, deliveryId, forwarded, origin];
    const { rows } = await service.pool.query<StoredWebhook>(list, [...given, ...rangeValues(range)]);
    for (const row of rows) found.get(row.sourceId)?.push(row);
  }
  return [...found.values()].flatMap((rows) => rows.slice(0, range.limit));
}

/** Finds a webhook with its bytes; null when it belongs to another source or is past the retention. */
export async function findReceived(db: Queryable, sourceId: string, id: string): Promise<StoredWebhookInFull | null> {
  const at = timeOfPublicId(id);
  if (at === null) return null;
  return (await db.query<StoredWebhookInFull>(find, [sourceId, id, new Date(at)])).rows[0] ?? null;
}

/** Finds the webhooks of these ids with their bytes, in the order of their arrival. */
export const findManyReceived = async (db: Queryable, sourceId: string, ids: readonly string[]) =>
  (await db.query<StoredWebhookInFull>(findMany, [sourceId, ids, timesOf(ids)])).rows;

export const findOwnReceived = async (db: Queryable, accountId: string, ids: readonly string[]) =>
  (await db.query<StoredWebhook>(findOwn, [accountId, ids, timesOf(ids)])).rows;

export async function countReceived(db: Queryable, { sourceId, eventTypes, ...between }: ReceivedChoice, max: number) {
  let sum = 0;
  for (const { fromMs, toMs } of stretchesBack(between)) {
    const values = [sourceId, new Date(fromMs), new Date(toMs), eventTypes, max + 1 - sum];
    sum += (await db.query<{ count: number }>(count, values)).rows[0]?.count ?? 0;
    if (sum > max) break;
  }
  return sum;
}

export async function nextReceived(db: Queryable, choice: ReceivedChoice, { at, id }: TimePosition, limit: number) {
  const { sourceId, eventTypes, fromMs, toMs } = choice;
  const values = [sourceId, new Date(fromMs), new Date(toMs), eventTypes, at, id, limit];
  return (await db.query<StoredWebhookInFull>(walk, values)).rows;
}

/** Yields the stretches of days that may hold rows of the filter, the newest first. */
async function* stretchesOf(
  service: IngestService,
  sourceIds: readonly string[],
  { after }: ListRange,
  { from, to, deliveryId }: ReceivedFilter,
): AsyncGenerator<Stretch> {
  const nowMs = service.clock.nowMs();
  // Another instance's clock may be ahead of ours by less than a day.
  const toMs = Math.min(nowMs + dayMs, (after?.at ?? to ?? new Date(nowMs + dayMs)).getTime() + 1);
  const fromMs = Math.max(keptSince(service), from?.getTime() ?? 0);
  if (deliveryId === undefined) return yield* stretchesBack({ fromMs, toMs });
  const { rows } = await service.pool.query<{ id: string }>(findByKey, [sourceIds, idKeyOf(deliveryId)]);
  const times = new Set(rows.map(({ id }) => timeOfPublicId(id)).filter((at) => at !== null));
  for (const at of [...times].toSorted((a, b) => b - a))
    if (at >= fromMs && at < toMs) yield { fromMs: at, toMs: at + 1 };
}

const timesOf = (ids: readonly string[]): Date[] =>
  ids.map(timeOfPublicId).flatMap((ms) => (ms === null ? [] : [new Date(ms)]));
