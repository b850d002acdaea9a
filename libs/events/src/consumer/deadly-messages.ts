import { randomUUID } from "node:crypto";
import { hours } from "@signalbox/core";
import { type Pool, type RetentionRule, sql } from "@signalbox/storage";
import { createLimiter } from "../log/concurrency.ts";
import type { ReceivedRecord } from "../log/event-log.ts";

/** Number of processes that may die with a message in hand before it is given up. */
export const deathsMax = 3;

/** Messages that a killed process may already have handled: at most this many after the successor's start. */
const carefulMessages = 5_000;

const thisProcess = randomUUID();
/** A suspect is handled alone, or its neighbours would be blamed for a crash. */
const alone = createLimiter(1);

const beginStatement = sql(
  "begun.begin",
  `with given as (
     select topic, partition, "offset" from unnest($2::text[], $3::int[], $4::bigint[]) as given (topic, partition, "offset")
   ), entered as (
     insert into signalbox.begun (consumer, topic, partition, "offset", process)
     select $1, topic, partition, "offset", $5 from given on conflict do nothing returning topic, partition, "offset"
   )
   select topic, partition, "offset" from given except select topic, partition, "offset" from entered`,
);
const beginAgainStatement = sql(
  "begun.begin-again",
  `update signalbox.begun set deaths = deaths + (process <> $5)::int, process = $5
   where consumer = $1 and topic = $2 and partition = $3 and "offset" = $4 returning deaths`,
);
const endStatement = sql(
  "begun.end",
  `delete from signalbox.begun using unnest($2::text[], $3::int[], $4::bigint[]) as given (topic, partition, "offset")
   where begun.consumer = $1 and begun.topic = given.topic and begun.partition = given.partition
     and begun."offset" = given."offset"`,
);

type Position = Pick<ReceivedRecord, "topic" | "partition" | "offset">;

export const isSamePlace = (one: Position, other: Position): boolean =>
  one.offset === other.offset && one.partition === other.partition && one.topic === other.topic;

const positionsOf = (records: readonly Position[]) => [
  records.map(({ topic }) => topic),
  records.map(({ partition }) => partition),
  records.map(({ offset }) => offset),
];

export type DeadlyMessages = ReturnType<typeof createDeadlyMessages>;

/**
 * Finds the messages that kill the process handling them, with a record that survives the process: a message is written
 * down when its handling starts and crossed out when it ends in any other way. While the database is away nothing is
 * recorded, and handling goes on.
 */
export function createDeadlyMessages(pool: Pool, consumer: string) {
  const carefulUntil = new Map<string, bigint>();

  return {
    /** True for messages that a former process may have had in hand: the first after this process got the partition. */
    mayBe({ topic, partition, offset }: Position): boolean {
      const place = `${topic}/${partition}`;
      const until = carefulUntil.get(place) ?? offset + BigInt(carefulMessages);
      carefulUntil.set(place, until);
      return offset < until;
    },

    /** Records that handling starts; returns the messages that were started before and never ended. */
    async begin(records: readonly Position[]): Promise<readonly Position[]> {
      const values = [consumer, ...positionsOf(records), thisProcess];
      const answer = await pool.query<Position>(beginStatement, values).catch(() => null);
      return answer?.rows ?? [];
    },

    /**
     * Runs `work` on a message that was started before, with no other such message beside it. Runs `giveUp` when too
     * many processes have died with it in hand.
     */
    handleAlone<T>(
      { topic, partition, offset }: Position,
      work: () => Promise<T>,
      giveUp: () => Promise<T>,
    ): Promise<T> {
      return alone(async () => {
        const values = [consumer, topic, partition, offset, thisProcess];
        const answer = await pool.query<{ deaths: number }>(beginAgainStatement, values).catch(() => null);
        return (answer?.rows[0]?.deaths ?? 0) < deathsMax ? work() : giveUp();
      });
    },

    async end(records: readonly Position[]): Promise<void> {
      await pool.query(endStatement, [consumer, ...positionsOf(records)]).catch(() => {});
    },
  };
}

/** Deletes the records of messages that expired before they came again. */
export const startedRetention = (name: string, consumer: string, keepMs: number): RetentionRule => ({
  name,
  table: "signalbox.begun",
  column: "begun_at",
  condition: "consumer = $2",
  values: [consumer],
  keepMs,
  everyMs: hours(1),
});
