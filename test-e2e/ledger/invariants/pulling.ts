import type { Evidence, Invariant } from "../evidence.ts";
import type { Operation } from "../history.ts";
import { groupBy, possible, succeeded } from "./look-up.ts";

/** A message in an answer to a consumer. */
interface Given {
  readonly endpoint: string;
  readonly delivery: string;
  readonly subject: string | null;
  readonly sequence: number | null;
  readonly poll: Operation;
}

const givenIn = (evidence: Evidence): Given[] =>
  succeeded(evidence, "pull").flatMap((poll) =>
    poll.answer.messages.map((one: Omit<Given, "endpoint" | "poll">) => ({
      ...one,
      endpoint: poll.value.endpoint,
      poll,
    })),
  );

const messageOf = ({ endpoint, delivery }: Given | Operation["value"]) => `${endpoint} ${delivery}`;
const placeOf = ({ endpoint, subject }: Given | Operation["value"], sequence: number) =>
  `${endpoint} ${subject} ${sequence}`;

export const pulledOnce: Invariant = {
  name: "pulled-once",
  sentence: "A message whose acknowledgement was answered is given to its consumer no more.",
  violations(evidence) {
    const acked = new Map(succeeded(evidence, "pull-ack").map((ack) => [messageOf(ack.value), ack.endedAt]));
    return givenIn(evidence)
      .filter((given) => given.poll.invokedAt > (acked.get(messageOf(given)) ?? Number.POSITIVE_INFINITY))
      .map((given) => `${given.endpoint} was given ${given.delivery} after its acknowledgement`);
  },
};

export const pulledInOrder: Invariant = {
  name: "pulled-in-order",
  sentence: "A consumer is given the next message of a subject after it acknowledged the one before.",
  violations(evidence) {
    const acks = groupBy(possible(evidence, "pull-ack"), ({ value }) => placeOf(value, value.sequence));
    const firstAck = (place: string) => Math.min(...(acks.get(place) ?? []).map(({ invokedAt }) => invokedAt));
    return givenIn(evidence)
      .filter(({ sequence }) => sequence !== null && sequence > 1)
      .filter((given) => firstAck(placeOf(given, (given.sequence ?? 0) - 1)) > given.poll.endedAt)
      .map(({ endpoint, subject, sequence }) => `${endpoint} was given ${subject} ${sequence} too early`);
  },
};
