import type { Clock } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import type { Logger, Metrics, Tracer } from "@signalbox/telemetry";
import type { RewindTarget } from "./rewind-target.ts";

/** One record to append. A `null` value is a tombstone: on a compacted topic it removes the key. */
export interface LogRecord {
  readonly topic: string;
  /** Records of one key stay in order; the partition is the murmur2 hash of the key on every adapter. */
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: Buffer | null;
}

export interface ReceivedRecord extends LogRecord {
  readonly partition: number;
  readonly offset: bigint;
  /** When the log took the record, in milliseconds since the epoch. */
  readonly timestampMs: number;
}

/** Records of one partition, in order of their offsets. */
export interface ReceivedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly ReceivedRecord[];
  /** The offset that the next appended record would get, as known when the batch was read. */
  readonly endOffset: bigint;
  /** Aborted when the partition is being taken away or the subscription closes: finish what is in hand and return. */
  readonly signal: AbortSignal;
  /** To be called during long work, or the group takes this member for dead. Never throws. */
  heartbeat(): Promise<void>;
}

export interface SubscribeOptions {
  /** Members of one group share the partitions; the group's offsets are kept by the log. */
  readonly group: string;
  readonly topics: readonly string[];
  /** Partitions handled at the same time. */
  readonly concurrency?: number;
  /**
   * A member that is silent for this long is taken for dead, and others take over its partitions. Default: the shortest
   * that Kafka allows, 3 s or more; 15 s on PostgreSQL, which sees a process end at once.
   */
  readonly sessionTimeoutMs?: number;
  /**
   * Handles the records and returns how many of them, counted from the first, are done; nothing means all. Offsets are
   * committed after it returns. When it throws, the batch comes again after a pause.
   */
  readonly handle: (batch: ReceivedBatch) => Promise<number | undefined>;
  /** Called when the topic's retention has deleted records before the group handled them: it goes on behind them. */
  readonly onExpired?: (expired: ExpiredRecords) => void;
}

export interface Subscription {
  /** The partitions this member owns now. */
  assignments(): readonly TopicPartition[];
  /** Why the member is not reading, or null when it is. */
  health(): string | null;
  /** Why only a restart of the process helps, or null: nothing is read for minutes although the log answers. */
  liveness(): Promise<string | null>;
  /** Settles when the subscription has ended: resolved after `close`, rejected when it cannot go on by itself. */
  readonly ended: Promise<void>;
  /** Finishes the batches in hand, commits them and leaves the group. */
  close(): Promise<void>;
}

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

export interface ExpiredRecords extends TopicPartition {
  readonly records: number;
}

export interface BroadcastOptions {
  readonly service: string;
  readonly instance: string;
  readonly topics: readonly string[];
  /** Where to begin in each partition. A function is asked once for each, before anything is read. */
  readonly from: "start" | "end" | ((partition: PartitionRange) => bigint);
  /** Called for every record, in order per partition. An error ends the reader: see `ended`. */
  readonly onRecord: (record: ReceivedRecord) => void | Promise<void>;
}

/** What a partition holds, as when a reader opens. */
export interface PartitionRange extends TopicPartition {
  /** The oldest offset that is still there. */
  readonly first: bigint;
  /** The offset that the next appended record gets. */
  readonly end: bigint;
}

/** Where a reader begins in a partition; what has expired is passed over. */
export function beginningOf(from: BroadcastOptions["from"], partition: PartitionRange): bigint {
  const { first, end } = partition;
  if (from === "start") return first;
  if (from === "end") return end;
  const wanted = from(partition);
  if (wanted < first) return first;
  return wanted;
}

/** A reader of its own: every instance sees every record, and nothing is committed. */
export interface BroadcastReader {
  /** Settles once everything that was in the log when the reader opened has been handed over. */
  readonly caughtUp: Promise<void>;
  /** Milliseconds since the reader last knew that it had everything. */
  ageMs(): number;
  /** Why nothing is being read, or null. */
  health(): string | null;
  /** Why only a restart of the process helps, or null: it has ended, or reads nothing for minutes although the log answers. */
  liveness(): Promise<string | null>;
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  readonly cleanup: "delete" | "compact";
  readonly retentionMs: number;
  readonly maxMessageBytes: number;
  /** Copies of each partition; those that the broker gives by itself when left out. */
  readonly replicas?: number;
  /** Copies that have to have a record before it is acknowledged; as `replicas` when left out. */
  readonly minInSync?: number;
}

/** What somebody who signs in to the log may do with it. */
export interface LogAccess {
  /** As the log names them: `User:signalbox-account`. */
  readonly principal: string;
  readonly writes: readonly string[];
  readonly reads: readonly string[];
  /** What the names of their groups begin with. */
  readonly groupPrefix: string;
}

/** A topic that a reader asks for is not there. Waiting may help: topics are created by a job of the deployment. */
export class UnknownTopic extends Error {
  override readonly name = "UnknownTopic";
  readonly topic: string;

  constructor(topic: string) {
    super(`the topic ${topic} does not exist: create it with \`npm run topics\``);
    this.topic = topic;
  }
}

/** A difference between a wanted topic and the one the log has. */
export interface TopicProblem {
  readonly topic: string;
  readonly problem: string;
}

export interface PartitionLag extends TopicPartition {
  readonly committed: bigint;
  readonly end: bigint;
  readonly messages: number;
  /** Age of the oldest record that waits, in seconds; 0 when none does. */
  readonly seconds: number;
}

/** An ordered, partitioned, durable log of events. */
export interface EventLog {
  readonly kind: "kafka" | "postgres";
  /**
   * Appends the records and resolves when they are durable. Throws `PublishError`. Once the signal is aborted, what is on
   * its way is broken off, so that it does not land behind its repetition.
   */
  publish(records: readonly LogRecord[], signal?: AbortSignal): Promise<void>;
  subscribe(options: SubscribeOptions): Promise<Subscription>;
  broadcast(options: BroadcastOptions): Promise<BroadcastReader>;
  /** Creates what is missing and applies policies that may change; returns what it could not bring about. */
  ensureTopics(specs: readonly TopicSpec[]): Promise<TopicProblem[]>;
  verifyTopics(specs: readonly TopicSpec[]): Promise<TopicProblem[]>;
  /** Gives these principals exactly this access; says what could not be brought about. Others are left as they are. */
  ensureAccess(access: readonly LogAccess[]): Promise<string[]>;
  /** Says how the access of these principals differs. */
  verifyAccess(access: readonly LogAccess[]): Promise<string[]>;
  /** Lists, one sentence each, why records of these topics can be lost although they were acknowledged. */
  risks(topics: readonly string[]): Promise<string[]>;
  /** Names the groups that commit offsets. */
  groups(): Promise<string[]>;
  /**
   * Measures how far the group is behind on the topics, from their beginning where it never committed; on those that it
   * reads when none are named.
   */
  lag(group: string, topics?: readonly string[]): Promise<PartitionLag[]>;
  /** Says what each partition of the topics holds now, in one question for each topic. @throws UnknownTopic */
  ranges(topics: readonly string[]): Promise<PartitionRange[]>;
  /** Sets the committed offsets of the group on all its topics. Refused while a member is alive. */
  rewind(group: string, to: RewindTarget): Promise<void>;
  /** Why the log cannot be reached, or null. */
  health(): string | null;
  close(): Promise<void>;
}

export interface EventLogContext {
  readonly clientId: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** When given, the log closes with it. */
  readonly runner?: Runner;
  readonly tracer?: Tracer;
}
