import { createRequire } from "node:module";

interface Metadata {
  readonly topicMetadata: readonly { readonly topic: string; readonly partitionMetadata: readonly unknown[] }[];
}

interface Answers {
  parse(answer: Metadata): Promise<Metadata>;
}

/** The leader of a partition without one: no broker has this id. */
export const noLeader = -1;

/**
 * Fault: one partition without a leader rejects the whole answer about topics, and then no partition is known at all.
 * Here it keeps the leader -1 that the broker gives, and only an error of a whole topic counts.
 * Seen in kafkajs 2.2.4. Upstream: tulios/kafkajs#1460.
 */
for (const version of [0, 1, 2, 3, 4, 5, 6]) {
  const answers: Answers = createRequire(import.meta.url)(
    `kafkajs/src/protocol/requests/metadata/v${version}/response.js`,
  );
  const { parse } = answers;
  answers.parse = async (metadata) => {
    await parse({ topicMetadata: metadata.topicMetadata.map((topic) => ({ ...topic, partitionMetadata: [] })) });
    return metadata;
  };
}
