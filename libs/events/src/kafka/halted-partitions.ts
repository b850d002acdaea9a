import type { Logger } from "@signalbox/runtime";
import type { Admin } from "kafkajs";
import type { RecordPlace, TopicPartition, UndecodableBatch } from "../log/event-log.ts";
import { kafkaRanges, skipsOf } from "./kafka-groups.ts";

/** Lets the group pass the batch at this place. Its members notice it within seconds. */
export async function skipKafkaBatch(admin: Admin, group: string, place: RecordPlace): Promise<void> {
  const { topic, partition, offset } = place;
  const range = (await kafkaRanges(admin, [topic])).find((one) => one.partition === partition);
  if (!range || offset < range.first || offset >= range.end)
    throw new Error(`There is no record at ${topic}/${partition}/${offset}.`);
  const partitions = [{ partition, offset: String(offset + 1n) }]; // an offset of 0 could not be told from none
  await admin.setOffsets({ groupId: skipsOf(group), topic, partitions });
}

/** The partitions of a group member that wait at a batch which cannot be decoded. */
export class HaltedPartitions {
  readonly #group: string;
  readonly #admin: () => Promise<Admin>;
  readonly #log: Logger;
  readonly #halted = new Map<string, UndecodableBatch>();
  /** The place that an operator skips, by partition. */
  readonly #skips = new Map<string, bigint>();

  constructor(group: string, admin: () => Promise<Admin>, log: Logger) {
    this.#group = group;
    this.#admin = admin;
    this.#log = log;
  }

  list(): readonly UndecodableBatch[] {
    return [...this.#halted.values()];
  }

  /** Notes a batch, each time it is met; returns true when an operator skips it. */
  met(batch: UndecodableBatch): boolean {
    const [group, log] = [this.#group, this.#log];
    const name = nameOf(batch);
    const skipped = this.#skips.get(name);
    if (skipped !== undefined && batch.firstOffset <= skipped && skipped <= batch.lastOffset) {
      log.warn({ group, ...batch }, "an operator skips a batch that cannot be decoded: it becomes a dead letter");
      return true;
    }
    if (this.#halted.get(name)?.firstOffset !== batch.firstOffset)
      log.error({ group, ...batch }, "a batch cannot be decoded: its partition waits until `npm run groups -- skip`");
    this.#halted.set(name, batch);
    void this.#findSkip(batch).catch((error: unknown) => log.debug({ error, group }, "skips could not be read"));
    return false;
  }

  /** Notes that records of a partition were handled. */
  passed(place: TopicPartition): void {
    this.#halted.delete(nameOf(place));
  }

  /** Forgets the partitions of a former generation of the group. */
  forget(): void {
    this.#halted.clear();
  }

  async #findSkip({ topic, partition }: UndecodableBatch): Promise<void> {
    const admin = await this.#admin();
    const [found] = await admin.fetchOffsets({ groupId: skipsOf(this.#group), topics: [topic] });
    const offset = BigInt(found?.partitions.find((one) => one.partition === partition)?.offset ?? 0);
    if (offset > 0n) this.#skips.set(nameOf({ topic, partition }), offset - 1n);
  }
}

const nameOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;
