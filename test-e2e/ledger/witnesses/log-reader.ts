import { createHash } from "node:crypto";
import type { LogRecord } from "../evidence.ts";

/** Reads the event log as somebody outside does. */
export interface LogReader {
  /** Everything that was appended since the last call, up to the end as it is now, partition by partition. */
  read(): Promise<LogRecord[]>;
  /** How many records the groups of consumers have not handled. */
  lag(): Promise<number>;
  /** Begins at the first record again: the log is another one. */
  reset(): void;
}

/** What each instance reports of itself says nothing about callers. */
export const unreadTopics: ReadonlySet<string> = new Set(["signalbox.config-applied.v1"]);

/** The groups of the services, `images.facts` for one; other groups are of readers that come and go. */
export const isGroupOfService = (name: string): boolean =>
  /^(account|config|gateway|images?|webhook)[\w-]*\.[\w-]+$/.test(name);

interface RawRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: Buffer | null;
  /** Null is a tombstone. */
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** Takes a record apart by the published contract: CloudEvents headers, JSON. */
export function recordOf({ topic, partition, offset, key, value, headers }: RawRecord): LogRecord {
  const name = headers.ce_type ?? "tombstone";
  const digest = createHash("sha256").update(`${key} ${name} `);
  return {
    topic,
    partition,
    offset,
    key: String(key ?? ""),
    eventId: headers.ce_id ?? `tombstone ${topic} ${partition} ${offset}`,
    type: name.replace(/\.v\d+$/, ""),
    accountId: headers.ce_accountid ?? "",
    source: headers.ce_source ?? "",
    digest: digest
      .update(value ?? "")
      .digest("hex")
      .slice(0, 16),
    data: value === null ? null : JSON.parse(value.toString("utf8")),
  };
}
