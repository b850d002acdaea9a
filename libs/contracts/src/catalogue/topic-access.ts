import type { ServiceName } from "@signalbox/core";
import { deadLetterTopic, type TopicName } from "../topics/topics.ts";
import { catalogue, eventOf } from "./event-catalogue.ts";
import { subscriptions } from "./subscriptions.ts";

interface Rights {
  readonly writes: readonly (TopicName | DeadLetterTopic)[];
  readonly reads: readonly (TopicName | DeadLetterTopic)[];
  /** The services whose groups it describes to operators. */
  readonly answersFor?: readonly ServiceName[];
}

type DeadLetterTopic = `signalbox.${ServiceName}.dead-letters.v1`;

/** The rights of a service on the topics of the event log. It joins groups whose names begin with its own. */
export interface TopicAccess {
  readonly service: ServiceName;
  readonly writes: readonly string[];
  readonly reads: readonly string[];
  /** The services whose groups it may describe, beside its own. */
  readonly answersFor: readonly ServiceName[];
}

/** Rights of every service: it reports its configuration, follows overrides, and reads access states. */
const everybody: Rights = {
  writes: ["signalbox.config-applied.v1"],
  reads: ["signalbox.config.v1", "signalbox.access.v1"],
};

/** Everything that an account or an operator can subscribe to. */
const offeredToEndpoints = catalogue.flatMap(({ audience, topic }) => (audience === "internal" ? [] : [topic]));

/** The events of all subscriptions of the graph. */
const subscribedEvents = Object.values(subscriptions).flatMap(({ events }) =>
  events.map((name) => eventOf(name).topic),
);

/** The additional rights of each service. Only account writes access states. */
const rights: Readonly<Record<ServiceName, Rights>> = {
  account: {
    writes: ["signalbox.account.v1", "signalbox.access.v1", "signalbox.audit.v1"],
    reads: ["signalbox.audit.v1"],
  },
  config: {
    writes: ["signalbox.config.v1", "signalbox.audit.v1"],
    reads: ["signalbox.account.v1", "signalbox.config-applied.v1"],
  },
  // The worker has no listener: images answers operators for its dead letters, and puts its jobs back.
  images: {
    writes: [
      "signalbox.image.v1",
      "signalbox.image-render.v1",
      "signalbox.audit.v1",
      "signalbox.image-worker.dead-letters.v1",
    ],
    reads: ["signalbox.account.v1", "signalbox.image-rendered.v1", "signalbox.image-worker.dead-letters.v1"],
    answersFor: ["image-worker"],
  },
  "image-worker": { writes: ["signalbox.image-rendered.v1"], reads: ["signalbox.image-render.v1"] },
  "webhook-ingest": {
    writes: [
      "signalbox.webhook-source.v1",
      "signalbox.webhook-received.v1",
      "signalbox.webhook-rejection.v1",
      "signalbox.audit.v1",
    ],
    reads: ["signalbox.account.v1"],
  },
  "webhook-delivery": {
    writes: ["signalbox.webhook-delivery.v1", "signalbox.webhook-attempt.v1", "signalbox.audit.v1"],
    reads: ["signalbox.account.v1", ...offeredToEndpoints],
  },
  gateway: { writes: ["signalbox.audit.v1"], reads: subscribedEvents },
};

/** The writers and readers of each topic, by service. `npm run topics` turns it into the access lists of Kafka. */
export const topicAccess: readonly TopicAccess[] = Object.entries(rights).map(([name, rightsOfService]) => {
  const { writes, reads, answersFor = [] } = rightsOfService;
  const service = name as ServiceName;
  return {
    service,
    writes: [...everybody.writes, ...writes, deadLetterTopic(service)],
    reads: [...new Set([...everybody.reads, ...reads, deadLetterTopic(service)])],
    answersFor,
  };
});
