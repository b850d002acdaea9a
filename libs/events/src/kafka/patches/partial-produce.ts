import { createRequire } from "node:module";
import { linksOf } from "../errors/kafka-errors.ts";

interface Produced {
  readonly topics: readonly {
    readonly topicName: string;
    readonly partitions: readonly { readonly partition: number; readonly errorCode: number }[];
  }[];
}

interface Answers {
  parse(answer: Produced): Promise<Produced>;
}

const taken = Symbol("partitions that took their records");

/**
 * Fault: the whole answer to a produce request is rejected with the error of the first failed partition. Here the error
 * knows the partitions that took their records.
 * Seen in kafkajs 2.2.4. Upstream: tulios/kafkajs#1303.
 */
for (const version of [3, 4, 5, 6, 7]) {
  const answers: Answers = createRequire(import.meta.url)(
    `kafkajs/src/protocol/requests/produce/v${version}/response.js`,
  );
  const { parse } = answers;
  answers.parse = (produced) =>
    parse(produced).catch((error: unknown) => {
      throw Object.assign(error as Error, { [taken]: namesOfTaken(produced) });
    });
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
