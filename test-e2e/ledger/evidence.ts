import type { Operation } from "./history.ts";

/** A record of the event log, read by a plain client. */
export interface LogRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly eventId: string;
  /** Without its version: `image.created`. */
  readonly type: string;
  readonly accountId: string;
  /** The service that published it. */
  readonly source: string;
  /** Of key, type and value: copies of an event have the same. */
  readonly digest: string;
  // biome-ignore lint/suspicious/noExplicitAny: every type of event has members of its own.
  readonly data: any;
}

/** A request that the receiver got. */
export interface Receipt {
  readonly t: number;
  /** Which of the round's endpoints. */
  readonly endpoint: string;
  readonly eventId: string;
  readonly deliveryId: string;
  readonly type: string;
  /** The replay that it came of. */
  readonly replay: string | null;
  /** What it was answered; 0 when it was never answered. */
  readonly status: number;
}

export interface FinalImage {
  readonly account: string;
  readonly title: string;
  readonly status: string;
  /** SHA-256 of the bytes that the owner reads; `null` when they cannot be read. */
  readonly sha256: string | null;
}

/** An endpoint, what it asked for, and when it was deleted. */
export interface EndpointFate {
  readonly account: string;
  readonly types: readonly string[];
  /** Answered by then; `null` for one that stays. */
  readonly deletedAt: number | null;
}

/** A process that was asked whether it lives, whether it is ready, and then for something. */
export interface HealthSample {
  readonly t: number;
  readonly endedAt: number;
  readonly instance: string;
  /** How long the answer about its life took: on a busy machine, the time that it or we did not get. */
  readonly liveMs: number;
  /** Statuses; `null` when nothing answered. */
  readonly live: number | null;
  readonly ready: number | null;
  /** Of a read that needs no other process, sent right after. */
  readonly read: number | null;
}

export interface FaultSpan {
  readonly name: string;
  readonly from: number;
  /** When its undoing began, and when it had ended. */
  readonly undoneFrom: number;
  readonly until: number;
  /** The names of the processes that it halted: time that they did not get does not count. */
  readonly halted: readonly string[];
}

/** What the database says, and what each instance runs with. */
export interface Agreement {
  readonly database: { readonly value: string; readonly revision: string } | null;
  readonly instances: Readonly<Record<string, string | null>>;
}

/** A replay as it is at the end. */
export interface FinalReplay {
  readonly id: string;
  readonly account: string;
  readonly status: string;
  /** Deliveries that were wanted when it began, and those that it has put into the queue. */
  readonly total: number;
  readonly replayed: number;
}

/** Everything that a round leaves for the invariants to judge; plain data, so that it can be kept and planted. */
export interface Evidence {
  readonly operations: readonly Operation[];
  readonly faults: readonly FaultSpan[];
  readonly log: readonly LogRecord[];
  readonly received: readonly Receipt[];
  readonly endpoints: Readonly<Record<string, EndpointFate>>;
  /** By id: what GET shows, deleted ones left out. */
  readonly images: Readonly<Record<string, FinalImage>>;
  /** What the database holds, beside what the ledger knows ids of. */
  readonly imageRows: readonly { readonly id: string; readonly account: string; readonly title: string }[];
  readonly accounts: Readonly<Record<string, { readonly name: string; readonly settings: string }>>;
  /** The deliveries that each source lists as received. */
  readonly webhooks: readonly { readonly source: string; readonly delivery: string }[];
  readonly revokedKeys: readonly string[];
  readonly overrides: Agreement;
  readonly flags: Agreement;
  /** The deliveries of events that accounts published, counted by event and endpoint. */
  readonly publications: readonly { readonly account: string; readonly event: string; readonly deliveries: number }[];
  readonly replays: readonly FinalReplay[];
  readonly health: readonly HealthSample[];
  /** What must be empty at the end, by name. */
  readonly residue: Readonly<Record<string, number>>;
}

/** One sentence that must hold, and what in the evidence breaks it. */
export interface Invariant {
  readonly name: string;
  readonly sentence: string;
  readonly violations: (evidence: Evidence) => string[];
}
