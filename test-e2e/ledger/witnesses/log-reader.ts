import { createHash } from "node:crypto";
import type { LogRecord } from "../evidence.ts";

/** Reads the event log from outside. */
export interface LogReader {
  /** Reads all records since the last call, up to the present end, partition by partition. */
  read(): Promise<LogRecord[]>;
  /** Returns the number of records that the consumer groups have not handled. */
  lag(): Promise<number>;
  /** Appends to one partition of every topic a message that nobody can read; reading leaves such messages out. */
  poison(): Promise<void>;
  /** Deletes the topics with their records, and creates them again with the settings that they had. */
  recreate(topics: readonly string[]): Promise<void>;
  /** Restarts at the first record: the log is a new one. */
  reset(): void;
}

/** Reports of instances about themselves are irrelevant to callers. */
export const unreadTopics: ReadonlySet<string> = new Set(["signalbox.config-applied.v1"]);

/** The groups of the services, such as `images.facts`; other groups belong to temporary readers. */
export const isGroupOfService = (name: string): boolean =>
  /^(account|config|gateway|images?|webhook)[\w-]*\.[\w-]+$/.test(name);

/** The header of a message that the ledger itself put on the log. */
export const poisonHeader = "ledger-poison";
export const poisonValue: Buffer = Buffer.from([0xff, 0x7b, 0x00, 0x22]);

interface RawRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: Buffer | null;
  /** Null is a tombstone. */
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** Parses a record by the published contract: CloudEvents headers, JSON. */
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
