import type { Search } from "../../parts/lists.tsx";
import type { Delivery } from "../webhooks.ts";

/** An attempt as it was made. */
export interface LiveAttempt {
  readonly event: { readonly id: string; readonly occurredAt: string };
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly eventType: string;
  readonly number: number;
  readonly outcome: string;
  readonly status: number | null;
  readonly error: string | null;
}

/** Tells of every attempt, or of those at one endpoint. */
export const attemptsMade = `subscription ($endpointId: ID) { deliveryAttempted(endpointId: $endpointId) {
  event { id occurredAt } deliveryId endpointId eventType number outcome status error } }`;

/** A row of the list: a delivery as it was read, or as its last attempt tells of it. */
export type DeliveryRow = Pick<
  Delivery,
  | "id"
  | "endpoint_id"
  | "event_type"
  | "status"
  | "attempts"
  | "last_status"
  | "last_error"
  | "created_at"
  | "next_attempt_at"
>;

/** A row that a message told, and the time at which it came. */
interface ToldRow {
  readonly row: DeliveryRow;
  readonly atMs: number;
}

/** The rows that messages told since the list was read, by delivery. */
export type ToldRows = ReadonlyMap<string, ToldRow>;

/** Told rows that are kept: as many as a page shows, and some that its filters leave out. */
const toldMax = 100;

const statuses: Readonly<Record<string, Delivery["status"]>> = {
  succeeded: "succeeded",
  retry: "pending",
  exhausted: "exhausted",
  gone: "exhausted",
  held: "held",
};

/** Adds what attempts tell. The newest are kept; a late message changes no newer row. */
export function withAttempts(told: ToldRows, attempts: readonly LiveAttempt[], atMs: number): ToldRows {
  const next = new Map(told);
  for (const attempt of attempts) {
    const { deliveryId: id, number } = attempt;
    const known = next.get(id);
    if (known && known.row.attempts > number) continue;
    next.delete(id);
    next.set(id, { row: rowOf(attempt), atMs });
    if (next.size > toldMax) next.delete(next.keys().next().value as string);
  }
  return next;
}

function rowOf({ deliveryId, endpointId, eventType, number, outcome, status, error }: LiveAttempt): DeliveryRow {
  return {
    id: deliveryId,
    endpoint_id: endpointId,
    event_type: eventType,
    status: statuses[outcome] ?? "pending",
    attempts: number,
    last_status: status,
    last_error: error,
    created_at: timeOf(deliveryId),
    next_attempt_at: null,
  };
}

/** Joins a list with what was told after it was asked for, newest first and no longer than a page. */
export function joined(
  read: readonly DeliveryRow[],
  told: ToldRows,
  { askedAtMs, max, search }: { readonly askedAtMs: number; readonly max: number; readonly search: Search },
): DeliveryRow[] {
  const rows = new Map(read.map((row) => [row.id, row]));
  for (const { row, atMs } of told.values()) {
    const known = rows.get(row.id);
    if (atMs < askedAtMs || (known && known.attempts > row.attempts)) continue;
    if (known) rows.set(row.id, { ...known, ...row, created_at: known.created_at });
    // A message does not name the event, so it adds no row to the deliveries of one.
    else if (search.event_id === undefined) rows.set(row.id, row);
  }
  return [...rows.values()]
    .filter((row) => fits(row, search))
    .toSorted((a, b) => b.created_at.localeCompare(a.created_at) || b.id.localeCompare(a.id))
    .slice(0, max);
}

function fits({ status, event_type, endpoint_id, created_at }: DeliveryRow, search: Search): boolean {
  const { status: wanted, endpoint_id: endpoint, type, from, to } = search;
  if (wanted !== undefined && status !== wanted) return false;
  if (endpoint !== undefined && endpoint_id !== endpoint) return false;
  if (type?.endsWith("*") ? !event_type.startsWith(type.slice(0, -1)) : type !== undefined && event_type !== type)
    return false;
  return (from === undefined || created_at >= from) && (to === undefined || created_at < to);
}

const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/** The id of a delivery begins with the time of its event, in ten digits. */
function timeOf(deliveryId: string): string {
  let ms = 0;
  for (const digit of deliveryId.slice(4, 14)) ms = ms * 32 + digits.indexOf(digit);
  return new Date(ms).toISOString();
}
