import type { Clock } from "@signalbox/core";
import type { Logger, Metrics, Runner, Tracer } from "@signalbox/runtime";

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
  /** Time at which the log took the record, in milliseconds since the epoch. */
  readonly timestampMs: number;
  /** Given when the log could not read a batch: the reason. The value then holds its first bytes, as they are. */
  readonly unreadable?: string;
}

/** Records of one partition, in order of their offsets. */
export interface ReceivedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly ReceivedRecord[];
  /** The offset that the next appended record would get, as known when the batch was read. */
  readonly endOffset: bigint;
  /** Aborted when the partition is being taken away or the subscription closes: finish the current batch and return. */
  readonly signal: AbortSignal;
  /** Must be called during long work, or the group takes this member for dead. Never throws. */
  heartbeat(): Promise<void>;
}

export interface SubscribeOptions {
  /** Members of one group share the partitions; the group's offsets are kept by the log. */
  readonly group: string;
  readonly topics: readonly string[];
  /** Partitions handled at the same time. */
  readonly concurrency?: number;
  /**
   * Silence after which a member is taken for dead and others take over its partitions. Default: the shortest that
   * Kafka allows, 3 s or more; 15 s on PostgreSQL, which sees a process end at once.
   */
  readonly sessionTimeoutMs?: number;
  /**
   * Handles the records and returns how many of them, counted from the first, are done; undefined means all. Offsets
   * are committed after it returns. When it throws, the batch comes again after a pause.
   */
  readonly handle: (batch: ReceivedBatch) => Promise<number | undefined>;
  /**
   * Called when the topic's retention has deleted records before the group handled them: the group continues behind
   * them.
   */
  readonly onExpired?: (expired: ExpiredRecords) => void;
}

export interface Subscription {
  /** The partitions this member owns now. */
  assignments(): readonly TopicPartition[];
  /** Gives the reason why the member is not reading, or null when it is. */
  health(): string | null;
  /** Lists the batches that cannot be decoded: their partitions wait, and all others go on. */
  halted(): readonly UndecodableBatch[];
  /**
   * Gives the reason why only a restart of the process helps, or null: nothing is read for minutes although the log
   * answers.
   */
  liveness(): Promise<string | null>;
  /** Settles when the subscription has ended: resolved after `close`, rejected when it cannot continue. */
  readonly ended: Promise<void>;
  /** Finishes the current batches, commits them and leaves the group. */
  close(): Promise<void>;
}

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** A batch that cannot be decoded: its partition is read no further until an operator skips it. */
export interface UndecodableBatch extends TopicPartition {
  readonly firstOffset: bigint;
  readonly lastOffset: bigint;
  readonly reason: string;
}

export interface ExpiredRecords extends TopicPartition {
  readonly records: number;
}

export interface BroadcastOptions {
  readonly service: string;
  readonly instance: string;
  readonly topics: readonly string[];
  /** The start position in each partition. A function is called once for each, before anything is read. */
  readonly from: "start" | "end" | ((partition: PartitionRange) => bigint);
  /** Called for every record, in order per partition. An error ends the reader: see `ended`. */
  readonly onRecord: (record: ReceivedRecord) => void | Promise<void>;
}

/** The range of offsets in a partition. */
export interface PartitionRange extends TopicPartition {
  /** The oldest offset that is still there. */
  readonly first: bigint;
  /** The offset that the next appended record gets. */
  readonly end: bigint;
}

/** Returns the first offset that a reader wants in a partition; expired records are skipped. */
export function beginningOf(from: BroadcastOptions["from"], partition: PartitionRange): bigint {
  const { first, end } = partition;
  if (from === "start") return first;
  if (from === "end") return end;
  const wanted = from(partition);
  if (wanted < first) return first;
  return wanted;
}

/** A broadcast reader: every instance sees every record, and nothing is committed. */
export interface BroadcastReader {
  /** Settles once everything that was in the log when the reader opened has been handed over. */
  readonly caughtUp: Promise<void>;
  /** Milliseconds since the reader last knew that it had everything. */
  ageMs(): number;
  /** Gives the reason why nothing is being read, or null. */
  health(): string | null;
  /**
   * Gives the reason why only a restart of the process helps, or null: the reader has ended, or reads nothing for
   * minutes although the log answers.
   */
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
  /** Copies of each partition. Default: the setting of the broker. */
  readonly replicas?: number;
  /** Copies that must have a record before it is acknowledged. Default: the setting of the broker. */
  readonly minInSync?: number;
}

/** The rights of one principal on the log. */
export type LogAccess = ServiceAccess | WatcherAccess;

export interface ServiceAccess {
  /** Principal in the form of the log: `User:signalbox-account`. */
  readonly principal: string;
  readonly writes: readonly string[];
  readonly reads: readonly string[];
  /** Common prefix of the groups that it may join. */
  readonly groupPrefix: string;
  /** Prefixes of groups that it may describe, but not join. */
  readonly describedGroups: readonly string[];
}

/** A principal that may look at all topics and groups, and do nothing with them: an exporter, or a scaler. */
interface WatcherAccess {
  readonly principal: string;
  readonly watchesAll: true;
}

/** A topic that does not exist. Waiting may help: a job of the deployment creates topics. */
export class UnknownTopic extends Error {
  override readonly name = "UnknownTopic";
  readonly topic: string;

  constructor(topic: string) {
    super(`the topic ${topic} does not exist: create it with \`npm run topics\``);
    this.topic = topic;
  }
}

/** A difference between a wanted topic and the one of the log. */
export interface TopicProblem {
  readonly topic: string;
  readonly problem: string;
}

export interface PartitionLag extends TopicPartition {
  readonly committed: bigint;
  readonly end: bigint;
  readonly messages: number;
  /** Age of the oldest unhandled record, in seconds; 0 when none waits. */
  readonly seconds: number;
}

/** A living member of a group. */
export interface GroupMember {
  /** The name that the log gave it, or that it gave itself: new at each start. */
  readonly member: string;
  /** The partitions that it reads. */
  readonly partitions: number;
}

/** An ordered, partitioned, durable log of events. */
export interface EventLog {
  readonly kind: "kafka" | "postgres";
  /**
   * Appends the records and resolves when they are durable. Throws `PublishError`. Aborting the signal breaks off
   * requests on their way, so that they do not land behind their repetition.
   */
  publish(records: readonly LogRecord[], signal?: AbortSignal): Promise<void>;
  subscribe(options: SubscribeOptions): Promise<Subscription>;
  /** A topic that is made again, or is in another log of the same name, is read from its beginning. */
  broadcast(options: BroadcastOptions): Promise<BroadcastReader>;
  /**
   * Calls the listener when a broadcast reader finds that the topic is another one of the same name, which lacks what
   * only the former one contained.
   */
  onReplaced(topic: string, listener: () => void): void;
  /** Creates missing topics and applies policies that may change; returns the remaining differences. */
  ensureTopics(specs: readonly TopicSpec[]): Promise<TopicProblem[]>;
  verifyTopics(specs: readonly TopicSpec[]): Promise<TopicProblem[]>;
  /** Gives these principals exactly this access; returns the remaining differences. Other principals are left alone. */
  ensureAccess(access: readonly LogAccess[]): Promise<string[]>;
  /** Lists the differences in the access of these principals. */
  verifyAccess(access: readonly LogAccess[]): Promise<string[]>;
  /** Lists, one sentence each, the reasons why acknowledged records of these topics can be lost. */
  risks(topics: readonly string[]): Promise<string[]>;
  /** Lists the groups that commit offsets. */
  groups(): Promise<string[]>;
  /**
   * Measures the lag of the group on the topics, from their beginning where it never committed. Default: the topics
   * that the group reads.
   */
  lag(group: string, topics?: readonly string[]): Promise<PartitionLag[]>;
  /** Lists the living members of the group; none for an unknown group. */
  members(group: string): Promise<GroupMember[]>;
  /** Returns the current range of each partition, with one request per topic. @throws UnknownTopic */
  ranges(topics: readonly string[]): Promise<PartitionRange[]>;
  /** Sets the committed offsets of the group on all its topics. Refused while a member is alive. */
  rewind(group: string, to: RewindTarget): Promise<void>;
  /** Lets the group pass a batch that it cannot decode, as a dead letter. @throws Error for a place without a record */
  skip(group: string, place: RecordPlace): Promise<void>;
  /** Gives the reason why the log cannot be reached, or null. */
  health(): string | null;
  close(): Promise<void>;
}

export interface EventLogContext {
  readonly clientId: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** The runner that closes the log, if any. */
  readonly runner?: Runner;
  readonly tracer?: Tracer;
  /** Address of the deployment, under which readers of Kafka find schemas. Without one, headers are left as they are. */
  readonly baseUrl?: string;
}

/** The place of a record on the log. */
export interface RecordPlace extends TopicPartition {
  readonly offset: bigint;
}

/** Target of a rewind: the first record of this time or later, or an end of the log. */
export type RewindTarget = Date | "start" | "end";

/** Refuses a group with living members: they would not notice, and would commit over it. @throws Error */
export function refuseLiving(group: string, members: number): void {
  if (members === 0) return;
  const living = members === 1 ? "1 member is alive" : `${members} members are alive`;
  throw new Error(`The group ${group} cannot be rewound while ${living}. Stop every instance of its service first.`);
}

export function unknownGroup(group: string): Error {
  return new Error(`There is no group ${group} with committed offsets: see \`npm run groups -- list\`.`);
}

export type PublishErrorReason = "too-large" | "unknown-topic" | "invalid" | "unavailable";

/** A partition at fault, and the number of partitions of its topic. */
export interface PartitionAtFault {
  readonly topic: string;
  readonly partition: number;
  readonly partitions: number;
}

interface PublishErrorOptions {
  readonly topic?: string;
  readonly partitions?: readonly PartitionAtFault[];
  readonly cause?: unknown;
}

/**
 * Thrown when records were not appended, or when that is unknown. Only `unavailable` may pass by waiting; the other
 * reasons name a fault of the records.
 */
export class PublishError extends Error {
  override readonly name = "PublishError";
  readonly reason: PublishErrorReason;
  /** The topic at fault, when known. */
  readonly topic: string | undefined;
  /** The partitions that did not take their records, when only they are at fault: all other records are on the log. */
  readonly partitions: readonly PartitionAtFault[];

  constructor(reason: PublishErrorReason, message: string, options: PublishErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.topic = options.topic;
    this.partitions = options.partitions ?? [];
  }

  get retriable(): boolean {
    return this.reason === "unavailable";
  }
}
