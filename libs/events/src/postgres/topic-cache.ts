import { inTransaction, type Pool, sql } from "@signalbox/storage";
import { type TopicProblem, type TopicSpec, UnknownTopic } from "../log/event-log.ts";

/** A topic as the log knows it; `partitionIds[n]` is the row of partition n. */
export interface CachedTopic extends TopicSpec {
  readonly partitionIds: readonly number[];
}

interface TopicRow {
  readonly name: string;
  readonly partitions: number;
  readonly cleanup: "delete" | "compact";
  readonly retention_ms: bigint;
  readonly max_message_bytes: number;
  readonly partition_ids: number[];
}

const findTopics = sql(
  "log.find-topics",
  `select name, partitions, cleanup, retention_ms, max_message_bytes,
     array(select id from signalbox.log_partition where topic = name order by partition) as partition_ids
   from signalbox.log_topic where name = any ($1)`,
);
const saveTopics = sql(
  "log.save-topics",
  `insert into signalbox.log_topic (name, partitions, cleanup, retention_ms, max_message_bytes)
   select * from unnest($1::text[], $2::int[], $3::text[], $4::bigint[], $5::int[])
   on conflict (name) do update set cleanup = excluded.cleanup, retention_ms = excluded.retention_ms,
     max_message_bytes = excluded.max_message_bytes`,
);
const savePartitions = sql(
  "log.save-partitions",
  `insert into signalbox.log_partition (topic, partition)
   select name, generate_series(0, partitions - 1) from signalbox.log_topic where name = any ($1)
   on conflict (topic, partition) do nothing`,
);

/** A cache of the topics of the log: their partitions do not change, unless a topic is made again. */
export interface TopicCache {
  /** @throws UnknownTopic */
  find(names: readonly string[]): Promise<ReadonlyMap<string, CachedTopic>>;
  /** Forgets every topic: one of them was made again, with other partitions. */
  forget(): void;
  ensure(specs: readonly TopicSpec[]): Promise<TopicProblem[]>;
  verify(specs: readonly TopicSpec[]): Promise<TopicProblem[]>;
}

export function createTopicCache(pool: Pool): TopicCache {
  const known = new Map<string, CachedTopic>();

  async function load(names: readonly string[]): Promise<void> {
    const { rows } = await pool.query<TopicRow>(findTopics, [names]);
    for (const row of rows) {
      // Between the deletion of a topic and its new partitions nothing can be kept under it.
      if (row.partition_ids.length < row.partitions) known.delete(row.name);
      else known.set(row.name, toKnownTopic(row));
    }
  }

  async function verify(specs: readonly TopicSpec[]): Promise<TopicProblem[]> {
    await load(specs.map(({ name }) => name));
    return specs.flatMap((spec) => differences(spec, known.get(spec.name)));
  }

  return {
    async find(names) {
      if (names.some((name) => !known.has(name))) await load(names);
      const missing = names.find((name) => !known.has(name));
      if (missing !== undefined) throw new UnknownTopic(missing);
      return known;
    },
    forget: () => known.clear(),
    async ensure(specs) {
      await inTransaction(pool, async (tx) => {
        const names = specs.map(({ name }) => name);
        await tx.query(saveTopics, [
          names,
          specs.map(({ partitions }) => partitions),
          specs.map(({ cleanup }) => cleanup),
          specs.map(({ retentionMs }) => retentionMs),
          specs.map(({ maxMessageBytes }) => maxMessageBytes),
        ]);
        await tx.query(savePartitions, [names]);
      });
      return verify(specs);
    },
    verify,
  };
}

function toKnownTopic(row: TopicRow): CachedTopic {
  return {
    name: row.name,
    partitions: row.partitions,
    cleanup: row.cleanup,
    retentionMs: Number(row.retention_ms),
    maxMessageBytes: row.max_message_bytes,
    partitionIds: row.partition_ids,
  };
}

function differences(spec: TopicSpec, has: CachedTopic | undefined): TopicProblem[] {
  if (!has) return [{ topic: spec.name, problem: "is missing" }];
  const settings = ["partitions", "cleanup", "retentionMs", "maxMessageBytes"] as const;
  const hasMore = spec.cleanup === "delete" && has.partitions > spec.partitions;
  return settings
    .filter((setting) => has[setting] !== spec[setting] && !(setting === "partitions" && hasMore))
    .map((setting) => ({ topic: spec.name, problem: `${setting} is ${has[setting]} instead of ${spec[setting]}` }));
}
