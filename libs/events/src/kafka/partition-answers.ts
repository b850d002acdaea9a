import { createRequire } from "node:module";
import { linksOf } from "./kafka-errors.ts";

const require = createRequire(import.meta.url);

interface Answers<T> {
  parse(answer: T): Promise<T>;
}

interface Metadata {
  readonly topicMetadata: readonly { readonly topic: string; readonly partitionMetadata: readonly unknown[] }[];
}

interface Produced {
  readonly topics: readonly {
    readonly topicName: string;
    readonly partitions: readonly { readonly partition: number; readonly errorCode: number }[];
  }[];
}

/**
 * Keeps metadata of healthy partitions: kafkajs 2.2.4 rejects the whole answer about topics when one partition has no
 * leader, and then knows no partition at all. Such a partition gets the leader -1, which no broker has; only an error
 * of a whole topic counts.
 */
function keepPartitionsWithoutLeader(): void {
  for (const version of [0, 1, 2, 3, 4, 5, 6]) {
    const answers: Answers<Metadata> = require(`kafkajs/src/protocol/requests/metadata/v${version}/response.js`);
    const { parse } = answers;
    answers.parse = async (metadata) => {
      const topics = metadata.topicMetadata.map((one) => ({ ...one, partitionMetadata: [] }));
      await parse({ ...metadata, topicMetadata: topics });
      return metadata;
    };
  }
}

const taken = Symbol("partitions that took their records");

/**
 * Remembers the partitions that took their records: kafkajs rejects the whole answer to a produce request with the
 * error of the first failed partition.
 */
function keepPartitionsThatTook(): void {
  for (const version of [3, 4, 5, 6, 7]) {
    const answers: Answers<Produced> = require(`kafkajs/src/protocol/requests/produce/v${version}/response.js`);
    const { parse } = answers;
    answers.parse = (produced) =>
      parse(produced).catch((error: unknown) => {
        throw Object.assign(error as Error, { [taken]: namesOfTaken(produced) });
      });
  }
}

function namesOfTaken({ topics }: Produced): string[] {
  return topics.flatMap(({ topicName, partitions }) =>
    partitions.filter(({ errorCode }) => errorCode === 0).map(({ partition }) => `${topicName}/${partition}`),
  );
}

/**
 * Returns the partitions, `topic/number`, that took their records in a failed request; none when its answer is unknown.
 */
export function partitionsTaken(error: unknown): ReadonlySet<string> {
  for (const link of linksOf(error)) if (taken in link) return new Set(link[taken] as string[]);
  return new Set();
}

keepPartitionsWithoutLeader();
keepPartitionsThatTook();
