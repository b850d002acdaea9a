import type { Evidence, LogRecord } from "../evidence.ts";
import type { Operation } from "../history.ts";

/** The operations of one kind. */
export const operations = (evidence: Evidence, op: string): Operation[] =>
  evidence.operations.filter((one) => one.op === op);

export const succeeded = (evidence: Evidence, op: string): Operation[] =>
  operations(evidence, op).filter(({ outcome }) => outcome === "ok");

/** Operations that may have had an effect. */
export const possible = (evidence: Evidence, op: string): Operation[] =>
  operations(evidence, op).filter(({ outcome }) => outcome !== "fail");

/** The records of one type for the round's accounts. */
export const records = (evidence: Evidence, type: string): LogRecord[] =>
  evidence.log.filter((record) => record.type === type && isOfRound(evidence, record));

/** Properties belong to no account. */
const isOfRound = ({ accounts }: Evidence, { accountId, topic }: LogRecord) =>
  accountId in accounts || topic === "signalbox.config.v1";

/** The records by topic and key, each in log order. */
export function byKey(log: readonly LogRecord[]): Map<string, LogRecord[]> {
  return groupBy(log, ({ topic, key }) => `${topic} ${key}`);
}

/** Removes copies, keeping the first of each. */
export function distinct(log: readonly LogRecord[]): LogRecord[] {
  return [...groupBy(log, ({ topic, eventId }) => `${topic} ${eventId}`).values()].map(([first]) => first as LogRecord);
}

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** State that all instances share: its operation, its event, and the final reading. */
export const agreements = [
  { op: "set-property", type: "config.changed", of: "overrides" },
  { op: "set-flag", type: "flag.changed", of: "flags" },
] as const;

/** The change in an event, in the terms of its writer. */
const changeOf = {
  title: ({ key, data }: LogRecord) => `${key} ${data.title}`,
  name: ({ key, data }: LogRecord) => `${key} ${data.display_name}`,
  settings: ({ key, data }: LogRecord) =>
    `${key} ${data.timezone} ${data.locale} ${data.notifications.product_updates}`,
  delivery: ({ key, data }: LogRecord) => `${key} ${data.delivery_id}`,
} as const;

/** Every kind of numbered change: the operation, its event, and how each names its number. */
export const changes: readonly {
  readonly op: string;
  readonly type: string;
  readonly ofOperation: (value: Operation["value"]) => string;
  readonly ofRecord: (record: LogRecord) => string;
  /** Returns true for records of the operation among those of this type. */
  readonly isOurs?: (record: LogRecord) => boolean;
}[] = [
  {
    op: "patch-image",
    type: "image.updated",
    ofOperation: ({ image, title }) => `${image} ${title}`,
    ofRecord: changeOf.title,
  },
  {
    op: "patch-account",
    type: "account.updated",
    ofOperation: ({ account, name }) => `${account} ${name}`,
    ofRecord: changeOf.name,
    isOurs: ({ data }) => data.changed.includes("display_name"),
  },
  {
    op: "patch-settings",
    type: "account.settings_updated",
    ofOperation: ({ account, settings }) => `${account} ${settings}`,
    ofRecord: changeOf.settings,
  },
  {
    op: "webhook",
    type: "webhook.received",
    ofOperation: ({ source, delivery }) => `${source} ${delivery}`,
    ofRecord: changeOf.delivery,
  },
];

/** The distinct events of a kind of change, with the key of each change. */
export const eventsOf = (evidence: Evidence, { type, ofRecord, isOurs = () => true }: (typeof changes)[number]) =>
  distinct(records(evidence, type).filter(isOurs)).map((record) => ({ record, change: ofRecord(record) }));

/** Time within which every ending takes effect. */
export const endsWithinMs = 2_000;

/**
 * Returns the time by which something must have ended: this long after its answer, not counting the time in which a
 * process was halted, nor the waiting times of processes on a busy machine.
 */
export function excused({ faults, health }: Evidence, answeredAt: number, withinMs: number): number {
  let endsAt = answeredAt + withinMs;
  for (const { halted, from, until } of faults) {
    if (halted.length > 0 && from < endsAt && until > answeredAt) endsAt = Math.max(endsAt, until + withinMs);
  }
  const waits = health.filter(({ t, endedAt }) => endedAt > answeredAt && t < endsAt).map(({ liveMs }) => liveMs);
  return endsAt + Math.max(0, ...waits);
}
