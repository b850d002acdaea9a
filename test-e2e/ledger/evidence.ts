import type { Operation } from "./history.ts";

/** A record of the event log, read by a plain client. */
export interface LogRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly eventId: string;
  /** Type without version: `image.created`. */
  readonly type: string;
  readonly accountId: string;
  /** The publishing service. */
  readonly source: string;
  /** Digest of key, type and value: copies of an event have the same. */
  readonly digest: string;
  // biome-ignore lint/suspicious/noExplicitAny: every type of event has members of its own.
  readonly data: any;
}

/** A request at the receiver. */
export interface Receipt {
  readonly t: number;
  /** Name of the round's endpoint. */
  readonly endpoint: string;
  readonly eventId: string;
  readonly deliveryId: string;
  readonly type: string;
  /** The replay that it belongs to. */
  readonly replay: string | null;
  /** Status of the answer; 0 without an answer. */
  readonly status: number;
  readonly body: string;
}

export interface FinalImage {
  readonly account: string;
  readonly title: string;
  readonly status: string;
  /** SHA-256 of the bytes that the owner reads; `null` when they cannot be read. */
  readonly sha256: string | null;
}

/** An endpoint, its event types, and the time of its deletion. */
export interface EndpointFate {
  readonly account: string;
  readonly types: readonly string[];
  /** Time of the answer to its deletion; `null` for one that stays. */
  readonly deletedAt: number | null;
}

/** A sample of a process: liveness, readiness, and a read. */
export interface HealthSample {
  readonly t: number;
  readonly endedAt: number;
  readonly instance: string;
  /** Duration of the liveness answer: on a busy machine, time that the process or this one did not get. */
  readonly liveMs: number;
  /** Statuses; `null` without an answer. */
  readonly live: number | null;
  readonly ready: number | null;
  /** Status of a read that needs no other process, sent right after. */
  readonly read: number | null;
}

export interface FaultSpan {
  readonly name: string;
  readonly from: number;
  /** Start and end of its undoing. */
  readonly undoneFrom: number;
  readonly until: number;
  /** Names of the halted processes: time that they did not get does not count. */
  readonly halted: readonly string[];
}

/** The value in the database, and the value of each instance. */
export interface Agreement {
  readonly database: { readonly value: string; readonly revision: string } | null;
  readonly instances: Readonly<Record<string, string | null>>;
}

/** Somebody who subscribed to the changes of an account's images. */
export interface Subscriber {
  readonly account: string;
  /** The ids of the events, in the order in which they were told. */
  readonly told: readonly string[];
  /** Infinite for one whose subscription never began. */
  readonly listeningSince: number;
}

/** A replay in its final state. */
export interface FinalReplay {
  readonly id: string;
  readonly account: string;
  readonly status: string;
  /** Number of deliveries to replay, and number already queued. */
  readonly total: number;
  readonly replayed: number;
}

/** A step of the chain behind an id. */
export interface ChainStep {
  readonly id: string | null;
  readonly what: string;
  readonly verdict: string;
  readonly reason: string | null;
  readonly link: string | null;
}

/** The answer of why to the account of an acknowledged id, and the status that another account got. */
export interface Chain {
  readonly kind: "image" | "key" | "event" | "received" | "replay" | "delivery" | "request";
  readonly id: string;
  readonly account: string;
  /** Null when nothing was known of the id. */
  readonly steps: readonly ChainStep[] | null;
  readonly statusOfOther: number | null;
}

/** A change in the history of the property that the rounds override. */
export interface Revision {
  readonly revision: string;
  readonly value: string;
}

/** Everything that the invariants judge after a round; plain data, so that it can be stored and planted. */
export interface Evidence {
  readonly operations: readonly Operation[];
  readonly faults: readonly FaultSpan[];
  readonly log: readonly LogRecord[];
  readonly received: readonly Receipt[];
  readonly endpoints: Readonly<Record<string, EndpointFate>>;
  /** By id: the result of GET, without deleted images. */
  readonly images: Readonly<Record<string, FinalImage>>;
  /** Rows of the database, beside the ids that the ledger knows. */
  readonly imageRows: readonly { readonly id: string; readonly account: string; readonly title: string }[];
  readonly accounts: Readonly<Record<string, { readonly name: string; readonly settings: string }>>;
  /** The received deliveries in each source's list. */
  readonly webhooks: readonly { readonly source: string; readonly delivery: string; readonly received: string }[];
  readonly revokedKeys: readonly string[];
  readonly overrides: Agreement;
  readonly flags: Agreement;
  /** Every change that was ever made of the overridden property, oldest first. */
  readonly revisions: readonly Revision[];
  /** Numbers of deliveries of published events, by event and endpoint. */
  readonly publications: readonly { readonly account: string; readonly event: string; readonly deliveries: number }[];
  readonly replays: readonly FinalReplay[];
  /** One for each acknowledged id. */
  readonly chains: readonly Chain[];
  readonly subscribers: readonly Subscriber[];
  readonly health: readonly HealthSample[];
  /** Counts that must be zero at the end, by name. */
  readonly residue: Readonly<Record<string, number>>;
}

/** One sentence that must hold, and a search for violations. */
export interface Invariant {
  readonly name: string;
  readonly sentence: string;
  readonly violations: (evidence: Evidence) => string[];
}
